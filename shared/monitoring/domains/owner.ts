import * as organizations from "../../access/organizations/organization.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as domains from "./domain.ts";

/**
 * The id of the only organization of which the domain is verified, by whatever; undefined if there is none, or are several. Reads a row for each
 * organization, since nothing says whose domains of a name operators have verified.
 */
export const ownerOf = async (name: string): Promise<number | undefined> => {
  const orgs = (await organizations.list()).map(({ id }) => id);
  const named = await table.getMany<{ id: number }>(orgs.map((org) => keys.domainName(org, name)));
  const held = await Promise.all(
    named.map(async (row, index) => {
      const org = orgs[index];
      if (row === undefined || org === undefined) return [];
      const domain = await domains.get(org, row.id);
      return domain?.verified === true && domain.removing !== true ? [org] : [];
    }),
  );
  const [only, ...others] = held.flat();
  return others.length === 0 ? only : undefined;
};
