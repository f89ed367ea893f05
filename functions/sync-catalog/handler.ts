import { scheduled } from "../../shared/aws/queue/scheduled.ts";
import * as catalog from "../../shared/monitoring/hibp/catalog.ts";
import * as subscription from "../../shared/monitoring/hibp/subscription.ts";
import { rate } from "../../shared/monitoring/hibp/subscription-state.ts";
import { requestScanOfAll } from "../../shared/scanning/scan-request.ts";

export const handler = scheduled(async (_, { logger }) => {
  // The list of breaches needs no subscription.
  const [refreshed] = await Promise.allSettled([subscription.refresh()]);
  const { added, changed } = await catalog.sync(async ({ isBaseline }) => {
    // To the first sync every breach is new: it tells of no change at HIBP.
    if (!isBaseline)
      await requestScanOfAll("catalog_triggered", Number(process.env.STAGGER_INTERVAL_SECONDS));
  });
  logger.info("catalog synced", {
    rpm: await rate(),
    added: added.length,
    changed: changed.length,
  });
  if (refreshed.status === "rejected") throw refreshed.reason;
});
