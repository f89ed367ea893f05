import type { Invocation } from "../aws/queue/consume.ts";
import * as queue from "../aws/queue/queue.ts";
import { condition, type Write } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { Message } from "../contract/messages.ts";
import * as domains from "../monitoring/domains/domain.ts";
import { noteDomain } from "../monitoring/domains/own-checks.ts";
import { UpstreamFailure } from "../monitoring/hibp/hibp.ts";
import { askUpstream, hasTimeToAsk, noClaim } from "./ask-upstream.ts";
import { type BatchWork, compareBatch } from "./compare-batch.ts";
import type { DomainAnswer } from "./domain-answer.ts";
import { isLookup } from "./email-chunks.ts";
import { end, endIfNotServed, reasonOf } from "./end.ts";
import {
  acquireFencingToken,
  type Planner,
  type PlanProgress,
  pausePlanning,
  renewWhile,
} from "./fencing-token.ts";
import { heldWithToken, renewLock } from "./lock.ts";
import { createCursor } from "./look-up-cursor.ts";
import { isDone, isPlanned } from "./progress.ts";
import { type ScanRecord, scans } from "./record.ts";
import { resendChunks } from "./resend.ts";

/** A batch is saved in one transaction, which checks the lock and changes the scan and each domain. */
const lockWrites = 1;
const scanWrites = 1;
export const domainsPerBatch = table.maxTransactionWrites - lockWrites - scanWrites;

/**
 * A batch ends after this long, so that its e-mails do not wait for slow answers about other domains. Each
 * batch reads the blocks of its domains anew, so a batch that is cut short doubles the time of the next one.
 */
const firstBatchMilliseconds = 5_000;

/** The delay before a planner goes on when each domain changed before the planner could claim it. */
const unclaimedDelaySeconds = 5;

/**
 * Plans a scan: asks HIBP about each verified domain, compares the answers with the e-mails and sends the
 * differences to `check-emails`. E-mails of domains that the subscription does not cover go to
 * `look-up-emails`. Each batch is saved before its messages are sent, so that another planner can go on.
 */
export const plan = async (message: Message<"scan-plans">, invocation: Invocation): Promise<void> => {
  const { organizationId: org, scanId, resume = false } = message;
  const { logger } = invocation;
  const fencingToken = await acquireFencingToken(org, scanId, message.fencingToken);
  if (fencingToken === undefined) return;
  const planner: Planner = { org, scanId, fencingToken, invocation };
  const scan = await setRunning(org, scanId);
  if (scan === undefined) return;
  if (await endIfNotServed(org, scanId, logger)) return;
  try {
    const progress = await renewWhile(org, scanId, fencingToken, async (): Promise<PlanProgress> => {
      if (!scan.planned) return planDomains(planner);
      return resume ? resendChunks(planner, scan) : "planned";
    });
    if (progress === "over") return;
    if (progress !== "planned") {
      const { delaySeconds } = progress;
      const next = { organizationId: org, scanId, fencingToken, resume };
      await queue.send("scan-plans", next, { delaySeconds });
      await pausePlanning(org, scan, fencingToken, delaySeconds);
      return;
    }
    const planned = await scans.get(org, scanId);
    if (planned !== undefined && isDone(planned)) await end(org, scanId, { logger });
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    await end(org, scanId, { reason: reasonOf(error), logger });
  }
};

/** Takes a scan from pending to running and returns it. Undefined when it is over. */
const setRunning = async (org: number, scanId: number): Promise<ScanRecord | undefined> => {
  const scan = await scans.get(org, scanId);
  if (scan === undefined) return undefined;
  const from = scans.groupOf(scan);
  if (from.status === "running") return scan;
  if (from.status !== "pending") return undefined;
  const startedAt = new Date().toISOString();
  const change = scans.change(org, scanId, { from, to: { ...from, status: "running" }, set: { startedAt } });
  // Not written: another planner has set the scan running, or the scan is over. The row that is read next
  // tells.
  await table.attempt(table.transact(scans.writes(org, [change])));
  return scans.get(org, scanId);
};

const planDomains = async (planner: Planner): Promise<PlanProgress> => {
  const { org, scanId, fencingToken, invocation } = planner;
  let claimed = noClaim();
  let batchMilliseconds = firstBatchMilliseconds;
  for (;;) {
    if (!(await renewLock(org, scanId, fencingToken))) return "over";
    const verified = (await domains.list(org)).filter((domain) => domain.verified);
    const todo = verified.filter((domain) => !isPlanned(domain, scanId));
    if (todo.length > 0 && !hasTimeToAsk(invocation)) return { delaySeconds: 0 };
    const open = todo.filter(({ id }) => claimed.ids.has(id));
    const batch = open.length > 0 ? open : todo.slice(0, domainsPerBatch);
    const asked = await askUpstream(planner, batch, claimed, batchMilliseconds);
    const { answers, delaySeconds } = asked;
    if (answers.length < batch.length) batchMilliseconds *= 2;
    claimed = asked.claimed;
    if (answers.length > 0 || todo.length === 0) {
      const last = answers.length === todo.length;
      const isSaved = await compareAndSave(planner, claimed.planAt, answers, { last });
      if (isSaved && last) return "planned";
      // A planner that lost its fencing token may have claimed the domains after this one, with another time.
      // Without a new claim no batch of them could ever be saved.
      if (!isSaved) claimed = noClaim();
    }
    if (delaySeconds !== undefined) return { delaySeconds };
    if (answers.length === 0 && todo.length > 0) return { delaySeconds: unclaimedDelaySeconds };
  }
};

/**
 * Compares the answers of a batch with the e-mails, saves the resulting work and sends it. False when nothing
 * was saved, because another planner took over or a domain was unverified. `last`: the scan is planned then.
 */
const compareAndSave = async (
  planner: Planner,
  planAt: string,
  answers: readonly DomainAnswer[],
  { last }: { last: boolean },
): Promise<boolean> => {
  const { org, scanId, fencingToken } = planner;
  const batch = answers[0]?.domain.id ?? 0;
  const work = await compareBatch(planner, answers);
  const lookups = work.chunks.filter(({ chunk }) => isLookup(chunk));
  for (const { chunk } of lookups) await createCursor({ org, scanId, batch, chunk });
  const single = answers.filter(({ state }) => state === "single");
  await Promise.all(single.map(({ domain }) => noteDomain(org, domain.id)));

  const scan = await scans.get(org, scanId);
  if (scan === undefined) return false;
  const running = { ...scans.groupOf(scan), status: "running" as const };
  const remaining = Object.fromEntries(work.chunks.map(({ chunk, emails }) => [chunk, emails]));
  const { written } = await table.attempt(
    table.transact([
      { check: keys.scanLock(org), if: heldWithToken(scanId, fencingToken) },
      ...scans.writes(org, [
        scans.change(org, scanId, {
          from: running,
          add: { scannedEmails: work.unchanged, failedEmails: work.failed },
          set: {
            ...(answers.length > 0 && { [`remaining.${batch}`]: remaining }),
            ...(last && { planned: true }),
          },
          if: condition(`attribute_not_exists(#remaining.#${batch})`),
        }),
      ]),
      ...answers.map(
        ({ domain, state }): Write => ({
          update: keys.domain(org, domain.id),
          set: { planState: state, planBatch: batch },
          if: condition(
            "#verified = :verified AND #plannedByScan = :scan AND #planState = :fetching AND #planAt = :planAt",
            { verified: true, scan: scanId, fetching: "fetching", planAt },
          ),
        }),
      ),
    ]),
  );
  if (written) await sendWork(planner, planAt, batch, work);
  return written;
};

const sendWork = async (
  { org, scanId }: Planner,
  checkedAt: string,
  batch: number,
  work: BatchWork,
): Promise<void> => {
  const common = { organizationId: org, scanId, batch };
  const group = String(org);
  await queue.sendAll(
    "scan-checks",
    work.chunks
      .filter(({ chunk }) => !isLookup(chunk))
      .map(({ chunk, changes }) => ({ message: { ...common, chunk, checkedAt, changes }, group })),
  );
  await queue.sendAll(
    "scan-lookups",
    work.chunks
      .filter(({ chunk }) => isLookup(chunk))
      .map(({ chunk }) => ({ message: { ...common, chunk, cursor: 0 }, group })),
  );
};
