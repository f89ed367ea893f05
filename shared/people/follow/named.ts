/** The rows of an address that directories name: what they have made of it, and one for each person. */
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { domainOf } from "../../contract/address.ts";
import type { Directory } from "../directory.ts";
import { people } from "../person.ts";
import type { NamedAddress, Naming } from "./address.ts";

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

/** With their people, as far as the directory is still connected. In one trip. */
export const namingsOf = async (
  org: number,
  rows: readonly NamingRow[],
  connected: readonly Directory[],
): Promise<Naming[]> => {
  const named = rows.flatMap(({ directoryId, personId, leftAt, name }) => {
    const directory = connected.find(({ id }) => id === directoryId);
    return directory === undefined ? [] : [{ directory, personId, leftAt, name }];
  });
  const persons = await people.getMany(
    org,
    named.map(({ personId }) => personId),
  );
  return named.map(({ directory, leftAt, name }, index) => ({
    directory,
    person: persons[index],
    leftAt,
    name,
  }));
};
