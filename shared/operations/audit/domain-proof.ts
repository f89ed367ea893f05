import { asRead } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import { claim, isClaimOf, provenDomain } from "../../monitoring/domains/proof-record.ts";
import type { Inspection, Problem } from "./inspector.ts";

/** The row of a name must name a domain exactly while its record proves it. */
export const inspectProof =
  (org: number) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const domain = await domains.get(org, id);
    if (domain === undefined) return undefined;
    const proven = await provenDomain(domain.name);
    const { verifiedBy, removing } = domain;
    const isProved = verifiedBy === "record";
    if (removing === true || isProved === isClaimOf(org, domain, proven)) return undefined;
    const unchanged = { check: keys.domain(org, id), if: asRead({ verifiedBy }) };
    if (isProved && proven === undefined) {
      return {
        says: "it is proved, and its name is free",
        repair: () => table.transact([unchanged, claim(org, domain, undefined)]),
      };
    }
    if (isProved) {
      return {
        says: `it is proved, and its name is that of domain ${proven?.domainId}`,
        advice: `Unverify domain ${id} or domain ${proven?.domainId}: "domain unverify".`,
      };
    }
    return {
      says: "its name is taken by it although it is not proved",
      repair: () =>
        table.transact([
          unchanged,
          {
            delete: keys.provenDomain(domain.name),
            if: asRead({ organizationId: org, domainId: id }),
          },
        ]),
    };
  };
