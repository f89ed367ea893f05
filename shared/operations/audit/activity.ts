import { entries } from "../../access/activity/activity.ts";
import { asRead } from "../../aws/table/condition.ts";
import * as table from "../../aws/table/table.ts";
import type { Inspection, Problem } from "./inspector.ts";

/** An entry's group key must name the category that its row holds. */
export const inspectCategory =
  (org: number) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const row = await entries.get(org, id);
    if (row === undefined) return undefined;
    const from = entries.groupOf(row);
    const { category } = row;
    if (from.category === category) return undefined;
    return {
      says: `its category is ${category}, it is counted under ${from.category}`,
      repair: () =>
        table.transact(
          entries.writes(org, [
            entries.change(org, id, { from, to: { category }, if: asRead({ category }) }),
          ]),
        ),
    };
  };
