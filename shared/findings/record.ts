import type { Resolution } from "../findings/schema.ts";
import type { Actor } from "../organizations/actor.ts";
import type { Write } from "../table/condition.ts";
import { countedList } from "../table/counted-list.ts";

/** A finding as it is stored; its breach's details are the catalog's, its scan and whether it is acknowledged its facet's. */
export type FindingRow = {
  emailId: number;
  email: string;
  domainId: number;
  breachId: number;
  firstDetectedAt: string;
  /** Only of a finding that has disappeared upstream: when it was last seen. Otherwise that is its e-mail's last check. */
  lastSeenAt?: string;
  acknowledgment?: {
    at: string;
    by: Actor;
    resolution: Resolution;
    reason: string | null;
  };
};

export type FindingFacet = { scanId: number | null; acknowledged: boolean };

/** `createdAt` is when the row was written; `firstDetectedAt` when the check was taken that found it. */
export const findings = countedList<FindingFacet, FindingRow>("FINDING", {
  scanId: "integer",
  acknowledged: "boolean",
});

export type FindingRecord = NonNullable<Awaited<ReturnType<typeof findings.get>>>;

/** The writes that delete findings; those that are gone already are left out. */
export const deletions = async (org: number, ids: readonly number[]): Promise<Write[]> => {
  const rows = await findings.getMany(org, ids);
  return findings.writes(
    org,
    rows.filter((row) => row !== undefined).map((row) => findings.delete(org, row.id, findings.facetOf(row))),
  );
};
