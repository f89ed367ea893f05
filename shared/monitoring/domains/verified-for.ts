import * as organizations from "../../access/organizations/organization.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Domain } from "./domain.ts";

/**
 * The organizations of which a domain of this name is verified, whoever says so. Two requests for each page of organizations, since no
 * row says it of those that operators have verified.
 */
export const verifiedFor = async (name: string): Promise<number[]> => {
  const found: number[] = [];
  for await (const orgs of organizations.everyId()) {
    const claims = await table.getMany<{ id: number }>(orgs.map((org) => keys.domainName(org, name)));
    const holders = orgs.flatMap((org, index) => {
      const claim = claims[index];
      return claim === undefined ? [] : [{ org, domain: keys.domain(org, claim.id) }];
    });
    const rows = await table.getMany<Domain>(holders.map(({ domain }) => domain));
    for (const [index, { org }] of holders.entries()) if (rows[index]?.verified) found.push(org);
  }
  return found;
};
