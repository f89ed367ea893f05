import { scheduled } from "../../shared/queue/scheduled.ts";
import { request, startByItself } from "../../shared/scans/request.ts";

/** Invoked by an organization's own schedule. A scan that finds another in progress runs after it. */
export const handler = scheduled(async ({ organizationId }: { organizationId: number }, { logger }) => {
  const outcome = await startByItself(organizationId, "scheduled", logger);
  if (outcome === "in progress") await request(organizationId, "scheduled", new Date());
});
