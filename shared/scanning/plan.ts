import type { Invocation } from "../aws/queue/consume.ts";
import * as queue from "../aws/queue/queue.ts";
import { chunk as inChunksOf } from "../aws/table/chunk.ts";
import { condition, type Write } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { Message } from "../contract/messages.ts";
import { UpstreamFailure } from "../hibp/hibp.ts";
import * as domains from "../monitoring/domains/domain.ts";
import { markDomain } from "../monitoring/domains/own-checks.ts";
import type { News } from "../monitoring/unwatched/keep.ts";
import { askUpstream, type DomainAnswer, hasTimeToAsk } from "./ask-upstream.ts";
import { compareBatch } from "./compare-batch.ts";
import { outcomeOfAnswer } from "./coverage.ts";
import { type ChunkLeft, chunksLeft, isDone, isLookup, keepChanges } from "./email-chunks.ts";
import { end, endIfNotServed } from "./end.ts";
import { isPlanned, reasonOf } from "./final-counts.ts";
import { askAgain, isFull, isLost, keepAll } from "./keep-unwatched.ts";
import { acquireFencingToken, heldBy, type Planner, renewLock, renewWhile } from "./lock.ts";
import { failureCounts, type ScanRecord, scans } from "./record.ts";
import { running } from "./transitions.ts";

/**
 * How far a planner came. "planned": to the end. `delaySeconds`: a message has to wake a planner after this
 * delay. "over": the scan has ended, or another planner took over.
 */
type PlanProgress = "planned" | { delaySeconds: number } | "over";

/** A batch is saved in one transaction, which changes the scan and each domain. */
export const domainsPerBatch = 90;

/**
 * Numbers of batches that a planner has for itself. So it overwrites nothing of another planner of the scan.
 */
const batchesPerPlanner = 1_000_000;

/** How many chunks are kept at the same time. */
const concurrency = 25;

/**
 * A batch ends after this long, so that its e-mails do not wait for slow answers about other domains. Each
 * batch reads the blocks of its domains anew. So a batch that is cut short doubles the time of the next one.
 */
const firstBatchMilliseconds = 5_000;

/**
 * Plans a scan: asks HIBP about each verified domain, compares the answers with the e-mails and sends the
 * differences to `check-emails`. E-mails of domains that the subscription does not cover go to
 * `look-up-emails`. Each batch is saved before its messages are sent, so that another planner can go on.
 */
export const plan = async (message: Message<"scan-plans">, invocation: Invocation): Promise<void> => {
  const { organizationId: org, scanId } = message;
  const { logger } = invocation;
  const fencingToken = await acquireFencingToken({ org, scanId, fencingToken: message.fencingToken });
  if (fencingToken === undefined) return;
  const planner: Planner = { org, scanId, fencingToken, invocation };
  const scan = await setRunning(org, scanId);
  if (scan === undefined) return;
  if (await endIfNotServed(org, scanId, logger)) return;
  try {
    const progress = await renewWhile(planner, async (): Promise<PlanProgress> => {
      if (!scan.planned) return planDomains(planner, scan);
      // The messages of its chunks may be lost.
      await sendChunks(org, scanId, chunksLeft(scan));
      return "planned";
    });
    if (progress === "over") return;
    if (progress !== "planned") {
      const { delaySeconds } = progress;
      await queue.send("scan-plans", { organizationId: org, scanId, fencingToken }, { delaySeconds });
      await renewLock(planner, delaySeconds);
      return;
    }
    const planned = await scans.get(org, scanId);
    if (planned !== undefined && isDone(planned)) await end(org, scanId, { logger });
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    await end(org, scanId, { reason: reasonOf[error.kind], logger });
  }
};

/** Takes a scan from pending to running and returns it. Undefined when it is over. */
const setRunning = async (org: number, scanId: number): Promise<ScanRecord | undefined> => {
  const scan = await scans.get(org, scanId);
  if (scan === undefined) return undefined;
  const { status } = scans.groupOf(scan);
  if (status === "running") return scan;
  if (status !== "pending") return undefined;
  // Not written: another planner has set the scan running, or the scan is over. The row that is read next
  // tells.
  await table.attempt(table.transact(running(org, scan)));
  return scans.get(org, scanId);
};

const planDomains = async (planner: Planner, scan: ScanRecord): Promise<PlanProgress> => {
  const { org, scanId, fencingToken, invocation } = planner;
  let batchMilliseconds = firstBatchMilliseconds;
  const held = new Map<number, News>();
  for (let batchId = fencingToken * batchesPerPlanner; ; batchId++) {
    if (!(await renewLock(planner))) return "over";
    const verified = (await domains.list(org)).filter((domain) => domain.verified);
    const todo = verified.filter((domain) => !isPlanned(domain, scanId));
    const lost = verified.filter((domain) => isLost(domain, scanId) && !held.has(domain.id));
    const isOut = todo.length + lost.length > 0 && !hasTimeToAsk(invocation);
    // What was found is on its way by now, and does not wait for addresses that nobody watches.
    if (todo.length === 0 || isOut || isFull(held)) await keepAll(planner, held);
    if (isOut) return { delaySeconds: 0 };
    if (todo.length === 0 && lost.length > 0) {
      const delaySeconds = await askAgain(planner, lost, held);
      if (delaySeconds === undefined) continue;
      await keepAll(planner, held);
      return { delaySeconds };
    }
    const batch = todo.slice(0, domainsPerBatch);
    const { answers, delaySeconds } = await askUpstream(planner, batch, batchMilliseconds);
    if (answers.length < batch.length) batchMilliseconds *= 2;
    if (answers.length > 0 || todo.length === 0) {
      const isLast = answers.length === todo.length && held.size === 0;
      if ((await compareAndSave(planner, scan, batchId, answers, { isLast, held })) === "planned")
        return "planned";
    }
    if (delaySeconds !== undefined) {
      await keepAll(planner, held);
      return { delaySeconds };
    }
  }
};

/**
 * Compares the answers of a batch with the e-mails, saves the resulting work and sends it. Undefined
 * when nothing was saved, because another planner took over or a domain was unverified. Adds news of
 * addresses that nobody watches to `held`. `isLast`: the scan is planned then, if there are none.
 */
const compareAndSave = async (
  planner: Planner,
  scan: ScanRecord,
  batch: number,
  answers: readonly DomainAnswer[],
  { isLast, held }: { isLast: boolean; held: Map<number, News> },
): Promise<"planned" | "saved" | undefined> => {
  const { org, scanId } = planner;
  const work = await compareBatch(planner, answers);
  const toKeep = work.chunks.filter(({ chunk }) => !isLookup(chunk));
  for (const some of inChunksOf(toKeep, concurrency)) {
    await Promise.all(some.map(({ chunk, changes }) => keepChanges({ org, scanId, batch, chunk }, changes)));
  }
  const single = answers.filter(({ state }) => state === "single");
  await Promise.all(single.map(({ domain }) => markDomain(org, domain.id)));

  const remaining = Object.fromEntries(work.chunks.map(({ chunk, emails }) => [chunk, emails]));
  const isPlannedNow = isLast && work.news.size === 0;
  const { written } = await table.attempt(
    table.transact([
      { check: keys.scanLock(org), if: heldBy(planner) },
      ...scans.writes(org, [
        scans.change(org, scanId, {
          from: { ...scans.groupOf(scan), status: "running" },
          add: { scannedEmails: work.unchanged, ...failureCounts(work.failures) },
          set: {
            ...(answers.length > 0 && { [`remaining.${batch}`]: remaining }),
            ...(isPlannedNow && { planned: true }),
          },
        }),
      ]),
      ...answers.map((answer): Write => {
        const { domain } = answer;
        const outcome = outcomeOfAnswer(answer, scanId, work.doubted.has(domain.id));
        const hasNews = work.news.has(domain.id);
        return {
          update: keys.domain(org, domain.id),
          ...outcome,
          set: { ...outcome.set, planBatch: batch, ...(hasNews && { unwatchedOfScan: scanId }) },
          if: condition(
            "#verified = :verified AND #plannedByScan = :scan AND #planState = :fetching AND #planAt = :planAt",
            { verified: true, scan: scanId, fetching: "fetching", planAt: domain.planAt },
          ),
        };
      }),
    ]),
  );
  if (!written) return undefined;
  for (const [domainId, news] of work.news) held.set(domainId, news);
  await sendChunks(org, scanId, chunksLeft({ remaining: { [batch]: remaining } }));
  return isPlannedNow ? "planned" : "saved";
};

const sendChunks = async (org: number, scanId: number, chunks: readonly ChunkLeft[]): Promise<void> => {
  const group = String(org);
  const messages = chunks.map(({ batch, chunk }) => ({
    message: { organizationId: org, scanId, batch, chunk },
    group,
  }));
  const isOfLookups = ({ message }: { message: { chunk: string } }): boolean => isLookup(message.chunk);
  await queue.sendAll(
    "scan-checks",
    messages.filter((each) => !isOfLookups(each)),
  );
  await queue.sendAll("scan-lookups", messages.filter(isOfLookups));
};
