import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import type { Domain } from "../../../shared/monitoring/domains/domain.ts";

/** The domain when a scan has saved an answer about it with news of addresses that nobody watches. */
export const claim = (org: number, { id }: Pick<Domain, "id">, scanId = 1): Promise<Domain> =>
  table.update<Domain>(keys.domain(org, id), {
    set: {
      plannedByScan: scanId,
      planAt: new Date().toISOString(),
      planState: "checked",
      unwatchedOfScan: scanId,
    },
  });
