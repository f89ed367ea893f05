import type { Invocation } from "../aws/queue/consume.ts";
import * as queue from "../aws/queue/queue.ts";
import type { Message } from "../contract/messages.ts";
import { lookUpStepSeconds } from "../contract/scan-timing.ts";
import { blockOf } from "../lists/blocks.ts";
import * as domains from "../monitoring/domains/domain.ts";
import { type Email, emails } from "../monitoring/emails/record.ts";
import * as catalog from "../monitoring/hibp/catalog.ts";
import { UpstreamFailure } from "../monitoring/hibp/hibp.ts";
import { rate } from "../monitoring/hibp/subscription-state.ts";
import { type LookUp, lookUpAccounts } from "../monitoring/hibp/upstream.ts";
import { maximumDelaySeconds } from "./ask-upstream.ts";
import type { Check } from "./check-writes.ts";
import { compareEmail, type EmailChange, isIncluded } from "./compare-email.ts";
import { type ChunkKey, isDone, rangeOf } from "./email-chunks.ts";
import { end, endIfNotServed } from "./end.ts";
import { renewLock } from "./lock.ts";
import { acquireLease, releaseLease, saveStep } from "./look-up-cursor.ts";
import { addFailures, type Failures, scans } from "./record.ts";
import { recordCheck } from "./record-check.ts";

/** Addresses of one step. A worker that dies loses the answers of one step, and progress shows after each. */
const addressesPerStep = 25;

/** The longest that a step waits for anything but its look-ups. */
const maximumWaitSeconds = 5;

/** What a step needs to record its answers and save. */
const saveSeconds = 10;

/**
 * Looks up the addresses of a chunk one by one, as fast as the subscription's rate limit allows. Where it has
 * to stop, it sends itself a message with the cursor.
 */
export const lookUp = async (message: Message<"scan-lookups">, invocation: Invocation): Promise<void> => {
  const { organizationId: org, scanId, batch, chunk } = message;
  const { logger, remainingSeconds } = invocation;
  const key: ChunkKey = { org, scanId, batch, chunk };
  if (!(await renewLock(org, scanId))) return;
  if (await endIfNotServed(org, scanId, logger)) return;
  if (!(await acquireLease(key, message.cursor))) return;

  let cursor = message.cursor;
  for (;;) {
    const step = await takeStep(key, cursor, invocation);
    cursor = step.cursor;
    if (step.isOver) return;
    if (step.waitSeconds > 0 || remainingSeconds() < lookUpStepSeconds) {
      await releaseLease(key, cursor);
      const delaySeconds = Math.min(maximumDelaySeconds, Math.ceil(step.waitSeconds));
      await queue.send("scan-lookups", { ...message, cursor }, { delaySeconds, group: String(org) });
      await renewLock(org, scanId, undefined, delaySeconds);
      return;
    }
    if (!(await renewLock(org, scanId))) return;
  }
};

/**
 * Looks up the next addresses behind the cursor, records the answers and saves how far it came. `isOver`:
 * nothing is left for this worker; `waitSeconds`: the rate limit allows the next look-up after this time.
 */
const takeStep = async (
  key: ChunkKey,
  cursor: number,
  { logger, remainingSeconds }: Invocation,
): Promise<{ cursor: number; isOver: boolean; waitSeconds: number }> => {
  const { org, scanId, batch, chunk } = key;
  const { fromId, toId } = rangeOf(chunk);
  const range = { fromId: Math.max(fromId, cursor + 1), toId };
  const domainsById = new Map((await domains.list(org)).map((domain) => [domain.id, domain]));
  const ahead = (await emails.members(org, blockOf(fromId), range)).filter((row) => {
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
    await rate(),
  );
  const answered = rows.slice(0, answers.length);
  const spareSeconds = Math.max(0, Math.min(maximumWaitSeconds, (remainingSeconds() - saveSeconds) / 2));
  const names = answers.flatMap((answer) => (answer instanceof UpstreamFailure ? [] : answer));
  // Where HIBP does not give a breach's details in time, the breach is shown by its name until the next sync.
  const breachIds = await catalog.idsFor(names, {
    waitSeconds: spareSeconds,
    callSeconds: Math.max(1, spareSeconds),
  });
  const unchanged = await recordAnswers(
    { ...key, checkedAt: () => checkedAt, domains: domainsById, logger },
    answered,
    answers,
    breachIds,
  );
  if (unchanged === undefined) return { cursor, isOver: true, waitSeconds: 0 };

  const failures: Failures = new Map();
  for (const answer of answers) if (answer instanceof UpstreamFailure) addFailures(failures, answer.kind, 1);
  const checked = answers.filter((answer) => !(answer instanceof UpstreamFailure)).length;
  const unasked = ahead.length - answered.length;
  if (refusal !== undefined) addFailures(failures, refusal.kind, unasked);
  const left = refusal === undefined ? unasked : 0;
  const next = left === 0 ? toId : (answered.at(-1)?.id ?? cursor);
  const isSaved = await saveStep(key, { cursor, next, checked, failures, left, unchanged, checkedAt });
  if (left === 0 || !isSaved) {
    const scan = await scans.get(org, scanId);
    if (scan !== undefined && isDone(scan)) await end(org, scanId, { logger });
    return { cursor: next, isOver: true, waitSeconds: 0 };
  }
  return { cursor: next, isOver: false, waitSeconds: answers.length < rows.length ? waitSeconds : 0 };
};

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
