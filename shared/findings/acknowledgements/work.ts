import * as organizations from "../../access/organizations/organization.ts";
import type { Invocation } from "../../aws/queue/consume.ts";
import * as queue from "../../aws/queue/queue.ts";
import type { Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { renewalSeconds } from "../../contract/job-timing.ts";
import type { Message } from "../../contract/messages.ts";
import { dropZeros } from "../../lists/zeros.ts";
import { severityRisen, wake as wakeOutbox } from "../../outbox/outbox.ts";
import { wake as wakeRules } from "../rules/marks.ts";
import { firstBatch, writeBatch } from "./batch.ts";
import { placeOf, readerOf, type Window } from "./candidates.ts";
import { end, reportedNameOf } from "./end.ts";
import { follow } from "./follow.ts";
import {
  type AcknowledgementLock,
  type AcknowledgementRow,
  isOfPeople,
  lockKeyOf,
  purposeOf,
} from "./record.ts";
import { begin, hasMarks, type RuleSettings } from "./rule-run.ts";

/** With less time left no further batch is begun, so that the one in hand can be finished. */
const reserveSeconds = 15;

/**
 * How often in a row a batch may meet changed findings. Each time it is halved, so that the last ones
 * are of one finding.
 */
const maximumChanges = 20;

/**
 * Works on a request from its cursor on until it is done or the time is up; then it sends itself a
 * message. Where another worker has gone on, it leaves the request to that one.
 */
export const work = async (
  { organizationId: org, acknowledgementId: id }: Message<"acknowledgements">,
  { logger, remainingSeconds }: Invocation,
  { gatheringSeconds = 0 }: RuleSettings = {},
): Promise<void> => {
  if (id === undefined) return begin(org, gatheringSeconds);
  const [row, organization] = await Promise.all([
    table.get<AcknowledgementRow>(keys.acknowledgement(org, id)),
    organizations.get(org),
  ]);
  if (row === undefined || row.status !== "running") return;
  const lock = await table.get<AcknowledgementLock>(lockKeyOf(org, purposeOf(row)));
  if (lock?.acknowledgementId !== id) return;
  if (organization === undefined || organization.deleting === true) return;

  const hasTime = (): boolean => remainingSeconds() > reserveSeconds;
  const { outcome, lock: last } = await changeAll(org, row, lock, hasTime);
  if (outcome === "stopped") {
    await queue.send("acknowledgements", { organizationId: org, acknowledgementId: id });
  } else if (outcome === "done") {
    const notice = noticeOf(org, row, last);
    if (!(await end(org, row, last, "completed", logger, notice))) return;
    const isReopened = Object.keys(last.ruleCounts?.reopened ?? {}).length > 0;
    if (notice.length > 0 || isReopened) await wakeOutbox(org);
    if (row.follows !== undefined && (await follow(org, row.follows.breachId))) return;
    // What has changed meanwhile, and breaches whose findings have followed them.
    if (!isOfPeople(row) && (await hasMarks(org))) await wakeRules(org);
    await dropZeros(org, ["EMAIL", "FINDING"], hasTime, logger);
  }
};

/** People are told once, also when findings that the index did not name yet follow with a later request. */
const noticeOf = (org: number, row: AcknowledgementRow, lock: AcknowledgementLock): Write[] => {
  const { follows, matching } = row;
  if (follows === undefined) return [];
  const { breachId, level, from } = follows;
  if (from >= level || lock[reportedNameOf(follows)] === level) return [];
  // What rules hold leaves nothing to do; where they let go of it, people are told of that.
  const people = matching - (lock.ruleCounts?.held ?? 0);
  if (people <= 0) return [];
  return [severityRisen(org, { breachId, from, level, people, reopened: lock.acknowledged })];
};

/**
 * "stopped": the time is up; "overtaken": another worker has gone on, or the request has ended. `lock`:
 * as it was last written.
 */
type Result = { outcome: "done" | "stopped" | "overtaken"; lock: AcknowledgementLock };

/** Changes the findings behind the cursor, one batch after another, each in one transaction with the cursor. */
const changeAll = async (
  org: number,
  row: AcknowledgementRow,
  found: AcknowledgementLock,
  hasTime: () => boolean,
): Promise<Result> => {
  const read = await readerOf(org, row);
  let lock = found;
  /** Findings with places up to this are done, also when the lock does not say so yet. */
  let { cursor } = lock;
  let window: Window | undefined;
  /** E-mails that are being removed: their findings are left to the removal. */
  const removed = new Set<number>();
  let maximumBatch = Number.POSITIVE_INFINITY;
  let changes = 0;
  while (hasTime()) {
    window ??= await read(cursor);
    if (window === undefined) return { outcome: "done", lock };
    const left = window.candidates.filter(
      (each) => placeOf(row, each) > cursor && !removed.has(each.emailId),
    );
    const batch = firstBatch(org, row, lock, left, maximumBatch);
    const rest = left.slice(batch.length);
    // All that comes before the next candidate is done.
    const upTo = rest[0] === undefined ? window.upTo : placeOf(row, rest[0]) - 1;
    if (batch.length > 0 || isSilent(lock)) {
      const result = await writeBatch(org, row, lock, batch, upTo, window.switches);
      if (result.outcome === "overtaken") return { outcome: "overtaken", lock };
      if (result.outcome === "changed") {
        if (++changes > maximumChanges)
          throw new Error("Findings kept changing while a request changed them");
        for (const emailId of result.removed) removed.add(emailId);
        maximumBatch = Math.max(1, Math.floor(batch.length / 2));
        window = undefined;
        continue;
      }
      lock = result.lock;
      changes = 0;
      maximumBatch = Number.POSITIVE_INFINITY;
    }
    cursor = upTo;
    window = rest.length === 0 ? undefined : { ...window, candidates: rest };
  }
  const { outcome } = await writeBatch(org, row, lock, [], cursor, undefined);
  return { outcome: outcome === "written" ? "stopped" : "overtaken", lock };
};

/** Whether the sweep would soon take the worker for dead, which finds nothing to change. */
const isSilent = ({ dueAt }: AcknowledgementLock): boolean =>
  Date.now() - Date.parse(dueAt) >= 1_000 * renewalSeconds;
