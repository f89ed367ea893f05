import { randomUUID } from "node:crypto";
import * as catalog from "../catalog/catalog.ts";
import { UpstreamFailure } from "../catalog/hibp.ts";
import * as subscription from "../catalog/subscription.ts";
import { type LookUp, lookUpAccounts } from "../catalog/upstream.ts";
import { type Email, emails } from "../emails/record.ts";
import * as domains from "../organizations/domain.ts";
import type { Invocation } from "../queue/consume.ts";
import type { EmailChange, Message } from "../queue/messages.ts";
import * as queue from "../queue/queue.ts";
import { condition, type Write } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { apply } from "./apply.ts";
import { rangesOfChunk } from "./chunks.ts";
import { compare, includedIn } from "./compare.ts";
import { end, endIfLapsed, isDone, reasonOf } from "./end.ts";
import { renew, scans } from "./record.ts";

/** Addresses of one step: what is lost and asked again when a worker dies, and how often progress shows. */
const addressesPerStep = 25;

/** Longer than a function that looks up can run. */
const leaseMilliseconds = 70_000;

/** The longest one step can take. */
const stepSeconds = 30;

/** The longest that a step waits for anything but its look-ups. */
const maximumWaitSeconds = 5;

/** What a step needs to record its answers and save. */
const saveSeconds = 10;

/** The progress of one chunk's look-ups. Whoever holds the lease works; everything up to `cursor` is done. */
type LookupRow = { cursor: number; leaseUntil?: string; leaseToken?: string };

type Chunk = { org: number; scanId: number; batch: number; chunk: string };

/**
 * Looks a chunk's addresses up one by one, as fast as the subscription's rate allows, and sends itself a message with the
 * cursor where it has to stop. Each step is saved with its counts in one transaction, so none is counted twice.
 */
export const lookUp = async (message: Message<"scan-lookups">, invocation: Invocation): Promise<void> => {
  const { organizationId: org, scanId, batch, chunk } = message;
  const { logger, remainingSeconds } = invocation;
  const work: Chunk = { org, scanId, batch, chunk };
  if (!(await renew(org, scanId))) return;
  if (await endIfLapsed(org, scanId, logger)) return;
  if (!(await claim(work, message.cursor))) return;

  let cursor = message.cursor;
  try {
    for (;;) {
      const step = await takeStep(work, cursor, invocation);
      cursor = step.cursor;
      if (step.isOver) return;
      if (step.waitSeconds > 0 || remainingSeconds() < stepSeconds) {
        await release(work, cursor);
        await queue.send(
          "scan-lookups",
          { ...message, cursor },
          { delaySeconds: Math.min(900, Math.ceil(step.waitSeconds)), group: String(org) },
        );
        return;
      }
      if (!(await renew(org, scanId))) return;
    }
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    await end(org, scanId, { reason: reasonOf(error), logger });
  }
};

/** Looks up the next addresses behind the cursor and saves how far it came. */
const takeStep = async (
  work: Chunk,
  cursor: number,
  { logger, remainingSeconds }: Invocation,
): Promise<{ cursor: number; isOver: boolean; waitSeconds: number }> => {
  const { org, scanId, batch, chunk } = work;
  const [{ fromId, toId } = { fromId: 0, toId: 0 }] = rangesOfChunk(chunk);
  const range = { fromId: Math.max(fromId, cursor + 1), toId };
  const domainsById = new Map((await domains.list(org)).map((domain) => [domain.id, domain]));
  const ahead = await includedIn(org, scanId, range, (domainId) => {
    const domain = domainsById.get(domainId);
    const isSingle = domain?.planBy === scanId && domain.planBatch === batch && domain.planState === "single";
    return isSingle && domain.verified;
  });
  const rows = ahead.slice(0, addressesPerStep);
  const checkedAt = new Date().toISOString();
  // However old: the catalog's sync refreshes it, and the planner has just had it, so it is known.
  const { rpm } = await subscription.current({
    waitSeconds: maximumWaitSeconds,
    maxAgeSeconds: Number.POSITIVE_INFINITY,
  });
  const { answers, waitSeconds } = await lookUpAccounts(
    rows.map((row) => row.email),
    rpm,
  );
  const answered = rows.slice(0, answers.length);
  const spareSeconds = Math.max(0, Math.min(maximumWaitSeconds, (remainingSeconds() - saveSeconds) / 2));
  const names = answers.flatMap((answer) => (answer instanceof UpstreamFailure ? [] : answer));
  // Without HIBP's list a new breach has its name for a title until the next sync.
  const ids = await catalog.idsFor(names, {
    waitSeconds: spareSeconds,
    callSeconds: Math.max(1, spareSeconds),
  });
  const unchanged = await record(
    { ...work, checkedAt, domains: domainsById, logger },
    answered,
    answers,
    ids,
  );
  if (unchanged === undefined) return { cursor, isOver: true, waitSeconds: 0 };

  const failed = answers.filter((answer) => answer instanceof UpstreamFailure).length;
  const left = ahead.length - answered.length;
  const next = left === 0 ? toId : (answered.at(-1)?.id ?? cursor);
  const checked = answers.length - failed;
  const step = { cursor, next, checked, failed, left, unchanged, checkedAt };
  const isOver = !(await save(work, step));
  if (left === 0 || isOver) {
    const scan = await scans.get(org, scanId);
    if (scan !== undefined && isDone(scan)) await end(org, scanId, { logger });
    return { cursor: next, isOver: true, waitSeconds: 0 };
  }
  return { cursor: next, isOver: false, waitSeconds: answers.length < rows.length ? waitSeconds : 0 };
};

/** Writes what the answers changed, and returns the e-mails that they did not; undefined when the scan is over. */
const record = async (
  application: Parameters<typeof apply>[0],
  rows: readonly Email[],
  answers: readonly LookUp[],
  ids: ReadonlyMap<string, number>,
): Promise<Email[] | undefined> => {
  const answered = rows.map((row, index) => ({ row, answer: answers[index] }));
  const changes: EmailChange[] = [];
  const unchanged: Email[] = [];
  for (const { row, answer } of answered) {
    if (answer === undefined || answer instanceof UpstreamFailure) continue;
    const breachIds = new Set(answer.map((name) => ids.get(name)).filter((id) => id !== undefined));
    const change = compare(row, breachIds, { complete: false });
    if (change === undefined) unchanged.push(row);
    else changes.push(change);
  }
  return (await apply(application, changes)) === undefined ? undefined : unchanged;
};

/** An address looked up singly has a check of its own. Refused when it was removed or disabled meanwhile. */
const setChecked = (org: number, row: Email, checkedAt: string): Write => ({
  update: emails.key(org, row.id),
  set: { lastScannedAt: checkedAt },
  if: condition("#facet = :facet AND #since = :since AND NOT #lastScannedAt > :checkedAt", {
    facet: row.facet,
    since: row.since,
    checkedAt,
  }),
});

const claim = async ({ org, scanId, batch, chunk }: Chunk, cursor: number): Promise<boolean> => {
  const now = Date.now();
  const leaseToken = randomUUID();
  try {
    await table.update<LookupRow>(keys.lookup(org, scanId, batch, chunk), {
      set: { leaseUntil: new Date(now + leaseMilliseconds).toISOString(), leaseToken },
      if: condition("#cursor = :cursor AND (attribute_not_exists(#leaseUntil) OR #leaseUntil < :now)", {
        cursor,
        now: new Date(now).toISOString(),
      }),
    });
    return true;
  } catch (error) {
    if (!(error instanceof table.ConditionFailed)) throw error;
    // The reply to this very claim got lost, and the client tried again.
    return (error.item as LookupRow | undefined)?.leaseToken === leaseToken;
  }
};

const release = async ({ org, scanId, batch, chunk }: Chunk, cursor: number): Promise<void> => {
  await table.update(keys.lookup(org, scanId, batch, chunk), {
    remove: ["leaseUntil"],
    if: condition("#cursor = :cursor", { cursor }),
  });
};

type Step = {
  cursor: number;
  next: number;
  checked: number;
  failed: number;
  left: number;
  unchanged: readonly Email[];
  checkedAt: string;
};

/**
 * Saves a step: the cursor, the counts, what is left, and that the unchanged were checked, so that they are when they are
 * counted. False when the scan is over or another worker was faster.
 */
const save = async ({ org, scanId, batch, chunk }: Chunk, step: Step): Promise<boolean> => {
  const { cursor, next, checked, failed, left, checkedAt } = step;
  if (checked + failed === 0 && left > 0) return true;
  const scan = await scans.get(org, scanId);
  if (scan === undefined) return false;
  const path = `remaining.${batch}.${chunk}`;
  const counts: Write[] = [
    left === 0
      ? {
          delete: keys.lookup(org, scanId, batch, chunk),
          if: condition("#cursor = :cursor", { cursor }),
        }
      : {
          update: keys.lookup(org, scanId, batch, chunk),
          set: { cursor: next },
          if: condition("#cursor = :cursor", { cursor }),
        },
    ...scans.writes(org, [
      scans.change(org, scanId, {
        from: { ...scans.facetOf(scan), status: "running" },
        add: { scannedEmails: checked, failedEmails: failed },
        ...(left === 0 ? { remove: [path] } : { set: { [path]: left } }),
        if: condition(`attribute_exists(#remaining.#${batch}.#${chunk})`),
      }),
    ]),
  ];
  let unchanged = step.unchanged;
  for (;;) {
    try {
      await table.transact([...unchanged.map((row) => setChecked(org, row, checkedAt)), ...counts]);
      return true;
    } catch (error) {
      if (!(error instanceof table.TransactionRefused)) throw error;
      const { length } = unchanged;
      if (error.failed.some(({ index }) => index >= length)) return false;
      unchanged = unchanged.filter((_, index) => !error.refused(index));
    }
  }
};
