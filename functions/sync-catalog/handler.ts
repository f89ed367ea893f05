import { type Invocation, scheduled } from "../../shared/aws/queue/consume.ts";
import { announce } from "../../shared/findings/acknowledgements/follow.ts";
import { recheckBreaches } from "../../shared/findings/rules/marks.ts";
import * as catalog from "../../shared/hibp/catalog.ts";
import { latestBreach, UpstreamFailure } from "../../shared/hibp/hibp.ts";
import * as subscription from "../../shared/hibp/subscription.ts";
import { rate } from "../../shared/hibp/subscription-state.ts";
import { requestScanOfAll, startDueScans } from "../../shared/scanning/scan-request.ts";

export const handler = scheduled(async (_, invocation) => {
  try {
    await sync(invocation);
  } finally {
    await startDueScans(invocation);
  }
});

const sync = async ({ logger }: Invocation): Promise<void> => {
  const latest = await latestBreach().catch((error: unknown) => {
    // Without it, syncs at their usual times find new breaches.
    if (error instanceof UpstreamFailure) return undefined;
    throw error;
  });
  if (!(await catalog.takeTurn(latest, Number(process.env.SYNC_INTERVAL_SECONDS)))) return;
  // The list of breaches needs no subscription.
  const [refreshed] = await Promise.allSettled([subscription.refresh()]);
  const rpm = await rate();
  const withinSeconds = Number(process.env.STAGGER_INTERVAL_SECONDS);
  const { added, changed, unknownDataClasses } = await catalog.sync(
    async ({ isBaseline, forRules }) => {
      await announce();
      await recheckBreaches(forRules);
      // To the first sync every breach is new: it tells of no change at HIBP.
      if (!isBaseline) await requestScanOfAll("catalog_triggered", { rpm, withinSeconds });
    },
    { latest },
  );
  // Each is medium until the table of severities knows it.
  if (unknownDataClasses.length > 0) logger.warn("data classes of unknown severity", { unknownDataClasses });
  logger.info("catalog synced", { rpm, added: added.length, changed: changed.length });
  if (refreshed.status === "rejected") throw refreshed.reason;
};
