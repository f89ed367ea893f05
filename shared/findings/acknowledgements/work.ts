import type { Logger } from "@aws-lambda-powertools/logger";
import * as organizations from "../../access/organizations/organization.ts";
import type { Invocation } from "../../aws/queue/consume.ts";
import * as queue from "../../aws/queue/queue.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Message } from "../../contract/messages.ts";
import * as notes from "../../lists/notes.ts";
import { type Candidate, type Source, sourceOf } from "./candidates.ts";
import { end } from "./end.ts";
import { lockRenewer } from "./lock.ts";
import { type AcknowledgementRow, isAsRead, type LaneRow, lanes, readState } from "./record.ts";
import { firstBatch, writeBatch } from "./write-batch.ts";

/** With less time left no further batch is begun, so that those in hand can be finished. */
const reserveSeconds = 15;

/** A transaction of fewer findings meets fewer changes, so that the last tries are of one finding alone. */
const maximumChanges = 20;
const minimumWrites = 6;

/**
 * Works on a request until it is done or the time is up. All lanes work at the same time. Where it has to stop, it sends itself a
 * message; where another worker has moved a lane, it leaves the lane to that one.
 */
export const work = async (
  { organizationId: org, acknowledgementId: id }: Message<"acknowledgements">,
  { logger, remainingSeconds }: Invocation,
): Promise<void> => {
  const [state, organization] = await Promise.all([readState(org, id), organizations.get(org)]);
  if (state === undefined || state.row.status !== "running") return;
  if (organization === undefined || organization.deleting === true) return;
  const renew = lockRenewer(org, id);
  if (!(await renew())) return;

  const { row } = state;
  const source = await sourceOf(org, row);
  const hasTime = (): boolean => remainingSeconds() > reserveSeconds;
  const mayGoOn = async (): Promise<boolean> => hasTime() && (await renew());
  const results = await Promise.allSettled(
    lanes.map((place) => workOnLane({ org, row, source, mayGoOn }, place, state.lanes[place])),
  );
  // If a lane fails, the others are finished first: no work may outlast the function.
  const broken = results.find((result) => result.status === "rejected");
  if (broken !== undefined) throw broken.reason;
  const outcomes = results.map((result) => (result.status === "fulfilled" ? result.value : "done"));
  if (outcomes.includes("stopped")) {
    // If another worker has advanced a lane, that worker continues, and this one sends no message.
    const goesOn = !outcomes.includes("overtaken") && (await renew());
    if (goesOn) await queue.send("acknowledgements", { organizationId: org, acknowledgementId: id });
    return;
  }
  if (await end(org, id, "completed", logger)) await noteFindings(org, hasTime, logger);
};

type Task = {
  org: number;
  row: AcknowledgementRow;
  source: Source;
  mayGoOn: () => Promise<boolean>;
};

/** "stopped": the time is up or the lock is lost; "overtaken": another worker has moved the lane. */
type Outcome = "done" | "stopped" | "overtaken";

const workOnLane = async (task: Task, place: number, read: LaneRow | undefined): Promise<Outcome> => {
  // A lane that is not there: the request has just ended.
  if (read === undefined) return "overtaken";
  let lane = read;
  const removed = new Set<number>();
  let maximumWrites: number = table.maxTransactionWrites;
  for (let changes = 0; !lane.isDone; ) {
    const result = await workOnSource(task, place, lane, removed, maximumWrites);
    lane = result.lane;
    if (result.outcome === "changed") {
      if (++changes > maximumChanges) throw new Error("Findings kept changing while they were acknowledged");
      maximumWrites = Math.max(minimumWrites, Math.floor(maximumWrites / 2));
    } else if (result.outcome === "written") {
      changes = 0;
      maximumWrites = table.maxTransactionWrites;
    } else return result.outcome;
  }
  return "done";
};

/**
 * Reads on from the lane's cursor and writes batch by batch, until something was not as it was read ("changed"), or, with a
 * smaller maximum of writes, until the first batch is written.
 */
const workOnSource = async (
  { org, row, source, mayGoOn }: Task,
  place: number,
  from: LaneRow,
  removed: Set<number>,
  maximumWrites: number,
): Promise<{ outcome: Outcome | "changed" | "written"; lane: LaneRow }> => {
  let lane = from;
  let pending: Candidate[] = [];
  let readUpTo = lane.cursor;
  const save = async (change: Partial<LaneRow>): Promise<boolean> => {
    const saved = await saveLane(org, row.id, place, lane, change);
    if (saved !== undefined) lane = saved;
    return saved !== undefined;
  };
  /** Undefined: written. */
  const writeFirst = async (): Promise<Outcome | "changed" | undefined> => {
    const batch = firstBatch(pending, maximumWrites);
    const result = await writeBatch(org, row, place, lane, batch);
    if (result.outcome === "written") {
      lane = result.lane;
      pending = pending.slice(batch.length);
      return undefined;
    }
    if (result.outcome === "changed") for (const emailId of result.removed) removed.add(emailId);
    return result.outcome;
  };
  for await (const part of source(place, lane.cursor)) {
    if (!(await mayGoOn())) {
      // Found no more than it has read, so that the next worker need not read that again.
      await save({ cursor: (pending[0]?.id ?? readUpTo + 1) - 1 });
      return { outcome: "stopped", lane };
    }
    readUpTo = part.upTo;
    pending.push(...part.candidates.filter(({ emailId }) => !removed.has(emailId)));
    while (firstBatch(pending, maximumWrites).length < pending.length) {
      if (!(await mayGoOn())) return { outcome: "stopped", lane };
      const outcome = await writeFirst();
      if (outcome !== undefined) return { outcome, lane };
      if (maximumWrites < table.maxTransactionWrites) return { outcome: "written", lane };
    }
  }
  if (pending.length > 0) {
    if (!(await mayGoOn())) return { outcome: "stopped", lane };
    const outcome = await writeFirst();
    if (outcome !== undefined) return { outcome, lane };
  }
  return { outcome: (await save({ isDone: true })) ? "written" : "overtaken", lane };
};

/** Changes a lane that is as it was read; undefined when another worker has moved it. */
const saveLane = async (
  org: number,
  id: number,
  place: number,
  lane: LaneRow,
  change: Partial<LaneRow>,
): Promise<LaneRow | undefined> => {
  const next = { ...lane, ...change };
  const { cursor, isDone } = next;
  const saved = await table.attempt(
    table.update(keys.acknowledgementLane(org, id, place), { set: { cursor, isDone }, if: isAsRead(lane) }),
  );
  if (saved.written) return next;
  // The reply to this very write can be lost: the client then tries again and finds what it wrote.
  const found = saved.failed[0]?.item as LaneRow | undefined;
  const isWritten =
    found?.cursor === cursor && found.acknowledged === next.acknowledged && found.isDone === isDone;
  return isWritten ? next : undefined;
};

/** The open findings that are left are rare now. */
const noteFindings = async (org: number, mayGoOn: () => boolean, logger: Logger): Promise<void> => {
  try {
    await notes.refresh(org, "FINDING", mayGoOn);
  } catch (error) {
    logger.warn("rare members are noted later", {
      organizationId: org,
      kind: "FINDING",
      error: error as Error,
    });
  }
};
