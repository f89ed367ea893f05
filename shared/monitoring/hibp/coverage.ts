/** Which domains the HIBP subscription can search, as HIBP last said. Reads what is stored and asks nobody. */
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";

export const domainPrefix = "DOMAIN#";

/** The row of a domain (lower case) that the subscription can search. */
export const domainKey = (name: string): Key => ({
  pk: keys.subscription().pk,
  sk: `${domainPrefix}${name}`,
});

/** `at`: when HIBP said so, ISO 8601; undefined before the first answer. */
export type Coverage = { covered: ReadonlySet<string>; at: string | undefined };

export const storedCoverage = async (domains: readonly string[]): Promise<Coverage> => {
  const [subscription, ...rows] = await table.getMany<{ at?: string }>([
    keys.subscription(),
    ...domains.map(domainKey),
  ]);
  return {
    covered: new Set(domains.filter((_, index) => rows[index] !== undefined)),
    at: subscription?.at,
  };
};
