import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import type { Domain } from "../../../shared/monitoring/domains/domain.ts";

/** The domain as a scan claims it. */
export const claim = (org: number, { id }: Domain): Promise<Domain> =>
  table.update<Domain>(keys.domain(org, id), {
    set: { plannedByScan: 1, planAt: new Date().toISOString(), planState: "fetching" },
  });
