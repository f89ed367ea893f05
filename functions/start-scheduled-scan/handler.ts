import { scheduled } from "../../shared/aws/queue/scheduled.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import { requestScan, startRequestedScan } from "../../shared/scanning/scan-request.ts";
import { startScheduledScan } from "./worker.ts";

/** Twice this function's timeout, so that the sweep takes the request only after this function has ended. */
const leaseMilliseconds = 2 * 1000 * startScheduledScan.timeoutSeconds;

/**
 * Starts the scan of the organization whose schedule has come. The scan is requested first, so that the sweep
 * starts it if this function fails, or once another scan that is in progress has ended.
 */
export const handler = scheduled(async ({ organizationId }: { organizationId: number }, { logger }) => {
  await requestScan(organizationId, "scheduled", new Date(Date.now() + leaseMilliseconds));
  const result = await startRequestedScan(keys.scanRequest(organizationId), logger);
  if (result === "in progress") await requestScan(organizationId, "scheduled", new Date());
});
