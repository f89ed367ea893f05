/** The rows of an address that directories name: what they have made of it, and one for each person. */
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { domainOf } from "../../contract/address.ts";
import type { NamedAddress } from "./address.ts";

/** That a person of a directory has the address, or had it when it was deleted: since when, and its name. */
export type NamingRow = Key & { directoryId: number; personId: number; leftAt?: string; name?: string };

/** In one trip. `row` undefined: no directory has named the address yet. */
export const readNamed = async (
  org: number,
  email: string,
): Promise<{ row: (NamedAddress & Key) | undefined; ofPeople: NamingRow[] }> => {
  const { pk, sk } = keys.namedAddress(org, domainOf(email), email);
  const rows = await table.query<Key>({ pk, prefix: sk });
  const prefix = `${sk}#`;
  return {
    row: rows.find((row) => row.sk === sk) as (NamedAddress & Key) | undefined,
    ofPeople: rows
      .filter((row) => row.sk.startsWith(prefix))
      .map((row) => {
        const [directoryId = 0, personId = 0] = row.sk.slice(prefix.length).split("#").map(Number);
        return { ...row, directoryId, personId };
      }),
  };
};
