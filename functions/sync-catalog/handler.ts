import { scheduled } from "../../shared/aws/queue/scheduled.ts";
import { announce } from "../../shared/findings/acknowledgements/follow.ts";
import * as catalog from "../../shared/monitoring/hibp/catalog.ts";
import * as subscription from "../../shared/monitoring/hibp/subscription.ts";
import { requestScanOfAll } from "../../shared/scanning/scan-request.ts";

export const handler = scheduled(async (_, { logger }) => {
  const { rpm } = await subscription.refresh();
  const { added, changed, unknownDataClasses } = await catalog.sync(async ({ isBaseline }) => {
    await announce();
    // To the first sync every breach is new: it tells of no change at HIBP.
    if (!isBaseline)
      await requestScanOfAll("catalog_triggered", Number(process.env.STAGGER_INTERVAL_SECONDS));
  });
  // Each is medium until the table of severities knows it.
  if (unknownDataClasses.length > 0) logger.warn("data classes of unknown severity", { unknownDataClasses });
  logger.info("catalog synced", { rpm, added: added.length, changed: changed.length });
});
