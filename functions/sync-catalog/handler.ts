import * as catalog from "../../shared/catalog/catalog.ts";
import * as subscription from "../../shared/catalog/subscription.ts";
import { scheduled } from "../../shared/queue/scheduled.ts";

export const handler = scheduled(async (_, { logger }) => {
  const { rpm } = await subscription.refresh();
  const { added, changed } = await catalog.sync();
  logger.info("catalog synced", { rpm, added: added.length, changed: changed.length });
});
