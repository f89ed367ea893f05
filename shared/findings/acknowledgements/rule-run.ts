/**
 * Requests that rules make: the service takes the marks of what has changed (rules/marks.ts), and lets rules end
 * findings or open them again. One request at a time deals with all marks that are there.
 */
import { service } from "../../access/activity/actor.ts";
import * as organizations from "../../access/organizations/organization.ts";
import { alive } from "../../aws/queue/job.ts";
import { chunk } from "../../aws/table/chunk.ts";
import { absent, asRead, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { isRecorded } from "../../hibp/breach-details.ts";
import { drawId } from "../../lists/blocks.ts";
import { type Mark, read } from "../rules/marks.ts";
import * as switches from "../rules/switches.ts";
import { outdatedBreaches } from "./follow.ts";
import { type AcknowledgementRow, newLock, timeOfRequest, wake } from "./record.ts";

export type RuleSettings = {
  /** How old the first of the changes is when a request deals with it and with all later ones. Default: 0. */
  gatheringSeconds?: number;
};

/** How many e-mails a request names. */
const maximumMarks = 2_000;

/** Marks that are taken off at the same time. */
const concurrency = 25;

/** A mark that waits for the end of a scan is silent for so long, and then woken by sweeps. */
const afterScanSeconds = 240;

/**
 * Begins a request for the marks that count now. Nothing where there is none, or a request is in progress. Marks
 * are taken off before the facts are read, so that a later change makes another one.
 */
export const begin = async (org: number, gatheringSeconds: number): Promise<void> => {
  const [lock, marks] = await Promise.all([table.get(keys.rulesLock(org)), read(org, maximumMarks)]);
  if (lock !== undefined || marks.length === 0) return;
  const organization = await organizations.get(org);
  if (organization === undefined || organization.deleting === true) return;
  const { on } = await switches.read(org);
  const scan = await table.get<{ scanId: number }>(keys.scanLock(org));
  const counting = await countingNow(org, marks, scan?.scanId);
  if (counting.length === 0 || isGathering(counting, gatheringSeconds)) return;
  // A rule that is off ends nothing, and reopens nothing. Switched on, it looks at everything.
  if (on.size === 0) return takeOff(counting);
  const [id, requestedAt] = await Promise.all([drawId("ACKNOWLEDGEMENT"), timeOfRequest(org)]);
  const ofEmails = counting.filter(({ emailId }) => emailId !== undefined);
  const others = counting.filter(({ emailId }) => emailId === undefined);
  const row: AcknowledgementRow = {
    id,
    status: "running",
    matching: counting.length,
    completedAt: null,
    requestedAt,
    by: service,
    resolution: null,
    reason: null,
    looks: {
      emailIds: ofEmails.flatMap(({ emailId }) => emailId ?? []),
      breachIds: others.flatMap(({ breachIds }) => [...(breachIds ?? [])]),
      isWhole: others.some(({ isWhole }) => isWhole),
    },
  };
  const { written } = await table.attempt(
    table.transact([
      { put: { ...keys.rulesLock(org), ...newLock(org, id) }, if: absent },
      { put: { ...keys.acknowledgement(org, id), ...row }, if: absent },
      ...others.map((mark) => dealtWith(mark, scan?.scanId)),
    ]),
  );
  // Not written: another worker has begun one, or there is more to look at.
  if (!written) return;
  await takeOff(ofEmails);
  await wake(org, id).catch(() => {});
};

/** People alone have changed, and a moment ago: the message of the first change comes later. */
const isGathering = (marks: readonly Mark[], gatheringSeconds: number): boolean => {
  const latest = new Date(Date.now() - 1_000 * gatheringSeconds).toISOString();
  return marks.every(({ emailId, since }) => emailId !== undefined && since > latest);
};

/** Whether rules have something to look at. */
export const hasMarks = async (org: number): Promise<boolean> => (await read(org, 1)).length > 0;

/**
 * A scan in progress may have read the former switches and breaches, and write findings still. So what it has
 * recorded is looked at once more after its end.
 */
const dealtWith = ({ pk, sk, count, after }: Mark, scanId: number | undefined): Write =>
  scanId === undefined || after !== undefined
    ? { delete: { pk, sk }, if: asRead({ count, after }) }
    : {
        update: { pk, sk },
        set: { after: scanId, ...alive(afterScanSeconds) },
        if: asRead({ count, after }),
      };

/** Not written: what the mark is about has changed again. */
const takeOff = async (marks: readonly Mark[]): Promise<void> => {
  for (const some of chunk(marks, concurrency)) {
    await Promise.all(
      some.map(({ pk, sk, count }) => table.attempt(table.remove({ pk, sk }, asRead({ count })))),
    );
  }
};

/** Breaches count once their findings have their present severity, by which messages go. */
const countingNow = async (
  org: number,
  marks: readonly Mark[],
  scanId: number | undefined,
): Promise<Mark[]> => {
  const isWaiting = ({ after }: Mark): boolean => after !== undefined && after === scanId;
  const some = marks.filter((mark) => !isWaiting(mark));
  const ofBreaches = some.find(({ breachIds }) => breachIds !== undefined);
  if (ofBreaches === undefined) return some;
  const isReady =
    (await isRecorded()) &&
    !(await outdatedBreaches(org)).some(({ breachId }) => ofBreaches.breachIds?.has(breachId));
  return isReady ? some : some.filter((mark) => mark !== ofBreaches);
};
