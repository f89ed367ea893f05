/** What a planner does about addresses that nobody watches, once it has sent the findings of watched ones. */
import { condition } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import * as breachDates from "../findings/breach-dates.ts";
import { UpstreamFailure } from "../hibp/hibp.ts";
import type { Domain } from "../monitoring/domains/domain.ts";
import { keep, type News } from "../monitoring/unwatched/keep.ts";
import { aliasesPerBatch, askUpstream, type DomainAnswer } from "./ask-upstream.ts";
import { compareBatch } from "./compare-batch.ts";
import type { Planner } from "./lock.ts";

/** Whether an answer about the domain has news that are not kept: another planner holds them, or died with them. */
export const isLost = ({ unwatchedOfScan, planState }: Domain, scanId: number): boolean =>
  unwatchedOfScan === scanId && planState === "checked";

/** Whether the news of earlier batches take as much memory as a batch. */
export const isFull = (held: ReadonlyMap<number, News>): boolean =>
  [...held.values()].reduce((sum, { named }) => sum + named.length, 0) > aliasesPerBatch;

/** Keeps all news, and forgets them. */
export const keepAll = async ({ org, scanId }: Planner, held: Map<number, News>): Promise<void> => {
  for (const [domainId, news] of held) {
    await keep(org, scanId, news, async () => {
      const dates = await breachDates.read(org);
      return new Map([...dates].map(([breachId, { first }]) => [breachId, first]));
    });
    held.delete(domainId);
  }
};

/** How long HIBP may take to answer again. */
const batchMilliseconds = 30_000;

/**
 * Asks again about domains whose answer was lost with its planner. The next scan keeps what HIBP does not answer now.
 * Returns the delay after which the rate limit allows another request, if it does not now.
 */
export const askAgain = async (
  planner: Planner,
  lost: readonly Domain[],
  held: Map<number, News>,
): Promise<number | undefined> => {
  const { org, scanId } = planner;
  const { answers, delaySeconds } = await askUpstream(planner, lost, batchMilliseconds, {
    isClaimed: true,
  }).catch((error: unknown) => {
    if (!(error instanceof UpstreamFailure)) throw error;
    const { kind: reason } = error;
    const answers = lost.map((domain): DomainAnswer => ({ domain, state: "failed", reason }));
    return { answers, delaySeconds: undefined };
  });
  const { news } = await compareBatch(planner, answers);
  for (const { domain } of answers) {
    const ofDomain = news.get(domain.id);
    if (ofDomain !== undefined) held.set(domain.id, ofDomain);
    else {
      const isOf = condition("#unwatchedOfScan = :scan", { scan: scanId });
      const key = keys.domain(org, domain.id);
      await table.attempt(table.update(key, { remove: ["unwatchedOfScan"], if: isOf }));
    }
  }
  return delaySeconds;
};
