import * as catalog from "../../shared/catalog/catalog.ts";
import * as subscription from "../../shared/catalog/subscription.ts";
import { scheduled } from "../../shared/queue/scheduled.ts";
import { requestAll } from "../../shared/scans/request.ts";

export const handler = scheduled(async (_, { logger }) => {
  const { rpm } = await subscription.refresh();
  const { added, changed } = await catalog.sync(async ({ isBaseline }) => {
    // The first sync knows of no change: everything is new to it.
    if (!isBaseline) await requestAll("catalog_triggered", Number(process.env.STAGGER_INTERVAL_SECONDS));
  });
  logger.info("catalog synced", { rpm, added: added.length, changed: changed.length });
});
