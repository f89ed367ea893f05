import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { baseOf, bucketIn, bucketOf } from "./record.ts";

/** Breached sub-addresses of a monitored address, `ada+shop@` of `ada@`, the most breached first. */
export const subAddressesOf = async (
  org: number,
  { email, domain }: { email: string; domain: { id: number } },
): Promise<{ email: string; breachCount: number }[]> => {
  const at = email.lastIndexOf("@");
  const alias = email.slice(0, at);
  const row = await table.get<Key>(keys.unwatched(org, domain.id, bucketOf(alias)));
  if (row === undefined) return [];
  return bucketIn(row)
    .entries.filter((entry) => entry.alias !== alias && baseOf(entry.alias) === alias)
    .flatMap(({ alias: sub, found }) =>
      found ? { email: `${sub}${email.slice(at)}`, breachCount: found.breachCount } : [],
    )
    .sort((one, other) => other.breachCount - one.breachCount || (one.email < other.email ? -1 : 1));
};
