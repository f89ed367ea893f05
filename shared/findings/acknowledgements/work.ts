import * as organizations from "../../access/organizations/organization.ts";
import type { Invocation } from "../../aws/queue/consume.ts";
import * as queue from "../../aws/queue/queue.ts";
import type { Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { acknowledgementRenewalSeconds } from "../../contract/acknowledgement-timing.ts";
import type { Message } from "../../contract/messages.ts";
import * as notes from "../../lists/notes.ts";
import { firstBatch, writeBatch } from "./batch.ts";
import { readerOf, type Window } from "./candidates.ts";
import { end, toldNameOf } from "./end.ts";
import { follow } from "./follow.ts";
import {
  type AcknowledgementLock,
  type AcknowledgementRow,
  isAsRead,
  lockKeyOf,
  progress,
  purposeOf,
} from "./record.ts";

/** With less time left no further batch is begun, so that the one in hand can be finished. */
const reserveSeconds = 15;

/** How often in a row a batch may meet changed findings. Each time it is halved, so that the last ones are of one finding. */
const maximumChanges = 20;

/**
 * Works on a request from its cursor on until it is done or the time is up; then it sends itself a message. Where another worker has
 * gone on, it leaves the request to that one.
 */
export const work = async (
  { organizationId: org, acknowledgementId: id }: Message<"acknowledgements">,
  { logger, remainingSeconds }: Invocation,
  tellRisen: TellRisen = async () => [],
): Promise<void> => {
  const [row, organization] = await Promise.all([
    table.get<AcknowledgementRow>(keys.acknowledgement(org, id)),
    organizations.get(org),
  ]);
  if (row === undefined || row.status !== "running") return;
  const lock = await table.get<AcknowledgementLock>(lockKeyOf(org, purposeOf(row)));
  if (lock?.acknowledgementId !== id) return;
  if (organization === undefined || organization.deleting === true) return;

  const hasTime = (): boolean => remainingSeconds() > reserveSeconds;
  const job = new Job(org, row, lock, hasTime);
  const outcome = await job.run();
  if (outcome === "stopped") {
    await queue.send("acknowledgements", { organizationId: org, acknowledgementId: id });
  } else if (outcome === "done") {
    const notice = await noticeOf(org, row, job.lock, tellRisen);
    if (!(await end(org, row, job.lock, "completed", logger, notice))) return;
    if (row.follows !== undefined && (await follow(org, row.follows.breachId))) return;
    // The findings that are left in a group are rare now.
    await notes.renew(org, ["FINDING"], hasTime, logger);
  }
};

/** Gives the writes that tell people of a breach whose severity has risen (alerting/gathering/risen.ts). */
export type TellRisen = (
  org: number,
  risen: { breachId: number; from: number; level: number; people: number; reopened: number },
) => Promise<Write[]>;

/** People are told once, also when findings that the index did not name yet follow with a later request. */
const noticeOf = async (
  org: number,
  row: AcknowledgementRow,
  lock: AcknowledgementLock,
  tellRisen: TellRisen,
): Promise<Write[]> => {
  const { follows, matching } = row;
  if (follows === undefined) return [];
  const { breachId, level, from } = follows;
  if (from >= level || lock[toldNameOf(follows)] === level) return [];
  return tellRisen(org, { breachId, from, level, people: matching, reopened: lock.acknowledged });
};

/** "stopped": the time is up; "overtaken": another worker has gone on, or the request has ended. */
type Outcome = "done" | "stopped" | "overtaken";

class Job {
  readonly #org: number;
  readonly #row: AcknowledgementRow;
  readonly #hasTime: () => boolean;
  /** As it was last read or written. */
  lock: AcknowledgementLock;
  /** Findings with ids up to this are done, also when the lock does not say so yet. */
  #cursor: number;
  /** E-mails that are being removed: their findings are left to the removal. */
  readonly #removed = new Set<number>();
  #maximumBatch = Number.POSITIVE_INFINITY;
  #changes = 0;

  constructor(org: number, row: AcknowledgementRow, lock: AcknowledgementLock, hasTime: () => boolean) {
    this.#org = org;
    this.#row = row;
    this.#hasTime = hasTime;
    this.lock = lock;
    this.#cursor = lock.cursor;
  }

  async run(): Promise<Outcome> {
    const read = await readerOf(this.#org, this.#row);
    for (let window = await read(this.#cursor); window !== undefined; window = await read(this.#cursor)) {
      const outcome = await this.#change(window);
      if (outcome !== "done") return outcome;
    }
    return "done";
  }

  /** Changes the findings of a window, or those before the first that has changed since it was read. */
  async #change({ candidates, upTo }: Window): Promise<Outcome> {
    let left = candidates.filter(({ emailId }) => !this.#removed.has(emailId));
    while (left.length > 0) {
      if (!this.#hasTime()) return this.#stop();
      const batch = firstBatch(this.#org, this.#row, this.lock, left, this.#maximumBatch);
      left = left.slice(batch.length);
      const last = left.length === 0 ? upTo : (batch.at(-1)?.id ?? upTo);
      const result = await writeBatch(this.#org, this.#row, this.lock, batch, last);
      if (result.outcome === "overtaken") return "overtaken";
      if (result.outcome === "changed") {
        if (++this.#changes > maximumChanges) {
          throw new Error("Findings kept changing while a request changed them");
        }
        for (const emailId of result.removed) this.#removed.add(emailId);
        this.#maximumBatch = Math.max(1, Math.floor(batch.length / 2));
        return "done";
      }
      this.lock = result.lock;
      this.#cursor = last;
      this.#changes = 0;
      this.#maximumBatch = Number.POSITIVE_INFINITY;
    }
    this.#cursor = upTo;
    if (!this.#hasTime()) return this.#stop();
    const silentMilliseconds = Date.now() - Date.parse(this.lock.dueAt);
    if (silentMilliseconds < 1000 * acknowledgementRenewalSeconds) return "done";
    return (await this.#save()) ? "done" : "overtaken";
  }

  async #stop(): Promise<Outcome> {
    return (await this.#save()) ? "stopped" : "overtaken";
  }

  /** Writes the cursor where nothing else did for a while. False when another worker has gone on. */
  async #save(): Promise<boolean> {
    const set = progress(this.#cursor, this.lock.acknowledged);
    const { written } = await table.attempt(
      table.update(lockKeyOf(this.#org, purposeOf(this.#row)), { set, if: isAsRead(this.lock) }),
    );
    if (written) this.lock = { ...this.lock, ...set };
    return written;
  }
}
