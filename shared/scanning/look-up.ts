import type { Invocation } from "../aws/queue/consume.ts";
import * as queue from "../aws/queue/queue.ts";
import { condition, type Write } from "../aws/table/condition.ts";
import * as table from "../aws/table/table.ts";
import { lookUpStepSeconds } from "../contract/job-timing.ts";
import type { Message } from "../contract/messages.ts";
import * as catalog from "../hibp/catalog.ts";
import { UpstreamFailure } from "../hibp/hibp.ts";
import * as limiter from "../hibp/limiter.ts";
import { rate } from "../hibp/subscription-state.ts";
import { type LookUp, lookUpAccounts } from "../hibp/upstream.ts";
import { blockOf } from "../lists/blocks.ts";
import * as domains from "../monitoring/domains/domain.ts";
import { type Email, emails } from "../monitoring/emails/record.ts";
import { maximumDelaySeconds } from "./ask-upstream.ts";
import type { Check } from "./check-writes.ts";
import { compareEmail, type EmailChange, isIncluded } from "./compare-email.ts";
import { type ChunkKey, isDone, lookupChunk, rangeOf, takingOff } from "./email-chunks.ts";
import { end, endIfNotServed } from "./end.ts";
import { renewLock } from "./lock.ts";
import { addFailures, type Failures, failureCounts, scans } from "./record.ts";
import { recordCheck } from "./record-check.ts";

/** Addresses of one step. A worker that dies loses the answers of one step, and progress shows after each. */
const addressesPerStep = 25;

/** The longest that a step waits for anything but its look-ups. */
const maximumWaitSeconds = 5;

/** What a step needs to record its answers and save. */
const saveSeconds = 10;

/**
 * Looks up the addresses of a chunk one by one, as fast as the subscription's rate limit allows. After each
 * step the remaining addresses are a chunk of their own. Where it has to stop, it sends itself a message with
 * that chunk.
 */
export const lookUp = async (message: Message<"scan-lookups">, invocation: Invocation): Promise<void> => {
  const { organizationId: org, scanId, batch } = message;
  const { logger, remainingSeconds } = invocation;
  if (!(await renewLock({ org, scanId }))) return;
  if (await endIfNotServed(org, scanId, logger)) return;
  let { chunk } = message;
  for (;;) {
    const step = await takeStep({ org, scanId, batch, chunk }, invocation);
    if (step === undefined) return;
    chunk = step.chunk;
    if (step.waitSeconds > 0 || remainingSeconds() < lookUpStepSeconds) {
      const delaySeconds = Math.min(maximumDelaySeconds, Math.ceil(step.waitSeconds));
      await queue.send("scan-lookups", { ...message, chunk }, { delaySeconds, group: String(org) });
      await renewLock({ org, scanId }, delaySeconds);
      return;
    }
    if (!(await renewLock({ org, scanId }))) return;
  }
};

/**
 * Looks up the first addresses of a chunk, records the answers and saves how far it came. Returns the
 * chunk that is left, and after what time the rate limit allows the next look-up; undefined when nothing
 * is left for this worker.
 */
const takeStep = async (
  key: ChunkKey,
  { logger, remainingSeconds }: Invocation,
): Promise<{ chunk: string; waitSeconds: number } | undefined> => {
  const { org, scanId, batch, chunk } = key;
  const rpm = await rate();
  const [scan, allDomains, waiting] = await Promise.all([
    scans.get(org, scanId),
    domains.list(org),
    limiter.lookUpWait(rpm),
  ]);
  // The message is late or repeated.
  if (scan?.remaining[batch]?.[chunk] === undefined) return undefined;
  // A hundred chunks can wait for the rate of ten requests a minute: none reads its e-mails in vain.
  if (waiting > 0) return { chunk, waitSeconds: waiting };
  const { fromId, toId } = rangeOf(chunk);
  const domainsById = new Map(allDomains.map((domain) => [domain.id, domain]));
  const ahead = (await emails.members(org, blockOf(fromId), { fromId, toId })).filter((row) => {
    const group = emails.groupOf(row);
    const domain = domainsById.get(group.domainId);
    const isSingle =
      domain?.plannedByScan === scanId && domain.planBatch === batch && domain.planState === "single";
    return isSingle && domain.verified && isIncluded(row, group, scanId);
  });
  const rows = ahead.slice(0, addressesPerStep);
  const checkedAt = new Date().toISOString();
  const { answers, waitSeconds, refusal } = await lookUpAccounts(
    rows.map((row) => row.email),
    rpm,
  );
  const answered = rows.slice(0, answers.length);
  const spareSeconds = Math.max(0, Math.min(maximumWaitSeconds, (remainingSeconds() - saveSeconds) / 2));
  const names = answers.flatMap((answer) => (answer instanceof UpstreamFailure ? [] : answer));
  // Without details from HIBP in time, the breach is shown by its name until the next sync.
  const breachIds = await catalog.idsFor(names, {
    waitSeconds: spareSeconds,
    callSeconds: Math.max(1, spareSeconds),
  });
  const unchanged = await recordAnswers(
    { ...key, isFirst: scan.isFirst, checkedAt: () => checkedAt, domains: domainsById, logger },
    answered,
    answers,
    breachIds,
  );
  if (unchanged === undefined) return undefined;

  const failures: Failures = new Map();
  for (const answer of answers) if (answer instanceof UpstreamFailure) addFailures(failures, answer.kind, 1);
  const checked = answers.filter((answer) => !(answer instanceof UpstreamFailure)).length;
  const unasked = ahead.length - answered.length;
  if (refusal !== undefined) addFailures(failures, refusal.kind, unasked);
  const left = refusal === undefined ? unasked : 0;
  const last = answered.at(-1);
  if (left > 0 && last === undefined) return { chunk, waitSeconds };
  const rest = left === 0 ? undefined : { chunk: lookupChunk((last?.id ?? 0) + 1, toId), emails: left };
  const add = { scannedEmails: checked, ...failureCounts(failures) };
  const isSaved = await saveStep(org, unchanged, checkedAt, takingOff(key, scan, add, rest));
  if (isSaved && rest !== undefined)
    return { chunk: rest.chunk, waitSeconds: answers.length < rows.length ? waitSeconds : 0 };
  const saved = await scans.get(org, scanId);
  if (saved !== undefined && isDone(saved)) await end(org, scanId, { logger });
  return undefined;
};

/**
 * Saves a step in one transaction: the remaining addresses, the scan's counts, and that the unchanged e-mails
 * were checked. False when the scan is over or another worker has saved this step.
 */
const saveStep = async (
  org: number,
  rows: readonly Email[],
  checkedAt: string,
  counts: readonly Write[],
): Promise<boolean> => {
  let unchanged = rows;
  for (;;) {
    const saving = await table.attempt(
      table.transact([...unchanged.map((row) => setChecked(org, row, checkedAt)), ...counts]),
    );
    if (saving.written) return true;
    if (saving.failed.some(({ index }) => index >= unchanged.length)) return false;
    // Only e-mails failed: they were removed, disabled or checked since they were read. The next try omits
    // them.
    unchanged = unchanged.filter((_, place) => !saving.failed.some(({ index }) => index === place));
  }
};

/** Records that an address was looked up. Fails if the e-mail was removed, disabled or checked later. */
const setChecked = (org: number, row: Email, checkedAt: string): Write => ({
  update: emails.key(org, row.id),
  set: { lastScannedAt: checkedAt },
  if: condition("#group = :group AND #afterScan = :afterScan AND NOT #lastScannedAt > :checkedAt", {
    group: row.group,
    afterScan: row.afterScan,
    checkedAt,
  }),
});

/**
 * Records the changes that answers make and returns the e-mails that this did not mark as checked; undefined when the
 * scan is over.
 */
const recordAnswers = async (
  check: Check,
  rows: readonly Email[],
  answers: readonly LookUp[],
  breachIds: ReadonlyMap<string, number>,
): Promise<Email[] | undefined> => {
  const changes: EmailChange[] = [];
  const unchanged: Email[] = [];
  for (const [index, row] of rows.entries()) {
    const answer = answers[index];
    if (answer === undefined || answer instanceof UpstreamFailure) continue;
    const ofAddress = new Set(answer.map((name) => breachIds.get(name)).filter((id) => id !== undefined));
    const change = compareEmail(row, ofAddress);
    if (change !== undefined) changes.push(change);
    if (change === undefined || change.found.length + change.back.length === 0) unchanged.push(row);
  }
  return (await recordCheck(check, changes)) === undefined ? undefined : unchanged;
};
