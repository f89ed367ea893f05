import { entries } from "../activity/activity.ts";
import { type FindingRecord, findings } from "../findings/record.ts";
import { scans } from "../scans/record.ts";
import * as table from "../table/table.ts";
import { asRead, type Found, type Look } from "./difference.ts";

/** A finding is acknowledged exactly when it says by whom. */
export const isAcknowledgmentRight = (row: Pick<FindingRecord, "facet" | "acknowledgment">): boolean =>
  findings.facetOf(row).acknowledged === (row.acknowledgment !== undefined);

export const lookAtAcknowledgment =
  (org: number) =>
  (id: number): Look<Found> =>
  async () => {
    const row = await findings.get(org, id);
    if (row === undefined || isAcknowledgmentRight(row)) return undefined;
    const from = findings.facetOf(row);
    const { acknowledgment } = row;
    return {
      says: from.acknowledged ? "it is acknowledged by nobody" : "somebody acknowledged it and it is not",
      mend: () =>
        table.transact(
          findings.writes(org, [
            findings.change(org, id, {
              from,
              to: { ...from, acknowledged: acknowledgment !== undefined },
              if: asRead({ acknowledgment }),
            }),
          ]),
        ),
    };
  };

/** The scan that a finding was first detected by is there. */
export const lookAtScanOf =
  (org: number) =>
  (id: number): Look<Found> =>
  async () => {
    const row = await findings.get(org, id);
    if (row === undefined) return undefined;
    const from = findings.facetOf(row);
    if (from.scanId === null || (await scans.get(org, from.scanId)) !== undefined) return undefined;
    return {
      says: `its scan ${from.scanId} is not there`,
      mend: () =>
        table.transact(
          findings.writes(org, [findings.change(org, id, { from, to: { ...from, scanId: null } })]),
        ),
    };
  };

/** An entry is counted under its category. */
export const lookAtCategory =
  (org: number) =>
  (id: number): Look<Found> =>
  async () => {
    const row = await entries.get(org, id);
    if (row === undefined) return undefined;
    const from = entries.facetOf(row);
    const { category } = row;
    if (from.category === category) return undefined;
    return {
      says: `its category is ${category}, it is counted under ${from.category}`,
      mend: () =>
        table.transact(
          entries.writes(org, [
            entries.change(org, id, { from, to: { category }, if: asRead({ category }) }),
          ]),
        ),
    };
  };
