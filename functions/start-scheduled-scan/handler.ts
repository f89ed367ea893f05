import { scheduled } from "../../shared/aws/queue/consume.ts";
import { requestScan } from "../../shared/scanning/scan-request.ts";

/** Requests the scan of the organization whose schedule has come. `sync-catalog` starts it within a minute. */
export const handler = scheduled(({ organizationId }: { organizationId: number }) =>
  requestScan(organizationId, "scheduled", new Date()),
);
