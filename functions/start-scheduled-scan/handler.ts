import { scheduled } from "../../shared/queue/scheduled.ts";
import { request, startRequested } from "../../shared/scans/request.ts";
import { keys } from "../../shared/table/keys.ts";

/** Longer than this function may run. */
const leaseMilliseconds = 60_000;

/**
 * Invoked by an organization's own schedule. Its scan is asked for first, for a moment later: if this fails, the sweep starts
 * it. One that finds another in progress runs after that.
 */
export const handler = scheduled(async ({ organizationId }: { organizationId: number }, { logger }) => {
  await request(organizationId, "scheduled", new Date(Date.now() + leaseMilliseconds));
  const outcome = await startRequested(keys.scanRequest(organizationId), logger);
  if (outcome === "in progress") await request(organizationId, "scheduled", new Date());
});
