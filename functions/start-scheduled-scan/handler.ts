import { Refusal } from "../../shared/api/errors.ts";
import { lapse } from "../../shared/billing/billing.ts";
import { service } from "../../shared/organizations/actor.ts";
import * as organizations from "../../shared/organizations/organization.ts";
import { scheduled } from "../../shared/queue/scheduled.ts";
import * as scans from "../../shared/scans/scan.ts";

/** Invoked by an organization's own schedule. */
export const handler = scheduled(async ({ organizationId }: { organizationId: number }, { logger }) => {
  const owner = await organizations.get(organizationId);
  const isServed =
    owner !== undefined && owner.deleting !== true && lapse(owner.billing, new Date()) === undefined;
  if (!isServed) return logger.info("scheduled scan skipped", { organizationId, because: "not served" });
  try {
    const scanId = await scans.start(organizationId, "scheduled", service);
    logger.info("scheduled scan started", { organizationId, scanId });
  } catch (error) {
    // A scan in progress covers this one; without active e-mails there is nothing to scan.
    if (!(error instanceof Refusal) || error.refusal === "scanNotQueued") throw error;
    logger.info("scheduled scan skipped", { organizationId, because: error.refusal });
  }
});
