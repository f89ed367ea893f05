import * as catalog from "../../shared/catalog/catalog.ts";
import * as subscription from "../../shared/catalog/subscription.ts";
import { scheduled } from "../../shared/queue/scheduled.ts";
import { requestScanOfAll } from "../../shared/scans/scan-request.ts";

export const handler = scheduled(async (_, { logger }) => {
  const { rpm } = await subscription.refresh();
  const { added, changed } = await catalog.sync(async ({ isBaseline }) => {
    // To the first sync every breach is new: it tells of no change at HIBP.
    if (!isBaseline)
      await requestScanOfAll("catalog_triggered", Number(process.env.STAGGER_INTERVAL_SECONDS));
  });
  logger.info("catalog synced", { rpm, added: added.length, changed: changed.length });
});
