/**
 * Turns what happened (outbox/outbox.ts) into deliveries. Each step is one transaction, which writes
 * deliveries and takes a row off. So two workers, or a worker that dies, tell nothing twice. A scan's
 * findings come before its end.
 */
import * as organizations from "../../access/organizations/organization.ts";
import type { Invocation } from "../../aws/queue/consume.ts";
import { failedRows, forEachDue } from "../../aws/queue/due-rows.ts";
import * as queue from "../../aws/queue/queue.ts";
import { condition } from "../../aws/table/condition.ts";
import { type Key, keys, organizationOf } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { lostAfterSeconds, secondsAfter } from "../../contract/alert-timing.ts";
import type { Message } from "../../contract/messages.ts";
import { type Ended, keyOfScan, type Problem, type Risen, wake } from "../../outbox/outbox.ts";
import type { Collecting } from "./collecting.ts";
import { reportEnd } from "./ended.ts";
import {
  type FindingsRow,
  type ReopenedRow,
  reportFindings,
  reportGathered,
  reportReopened,
  reportSoFar,
  rowsOfReopened,
} from "./findings.ts";
import { reportProblem, reportRise } from "./problem.ts";

type OutboxSettings = {
  /** From the first finding of a running scan to the first message about the scan as a whole. */
  firstMessageSeconds: number;
};

/** With less time left no further step is begun. */
const reserveSeconds = 15;

/** Rows that a step reads. */
const rowsAtOnce = 100;

/** Empties the outbox of an organization, or sends itself a message when its time is up. */
export const work = async (
  { organizationId: org }: Message<"outbox">,
  { remainingSeconds }: Invocation,
  settings: OutboxSettings,
): Promise<void> => {
  const organization = await organizations.get(org);
  // The organization's deletion deletes the rows.
  if (organization === undefined || organization.deleting === true) return;
  while (remainingSeconds() > reserveSeconds) {
    if (!(await withOptimisticRetry(() => takeStep(org, settings)))) return;
  }
  await queue.send("outbox", { organizationId: org }, { group: String(org) });
};

type Row = (Key & Problem) | (Key & Risen) | ReopenedRow | FindingsRow | (Key & Ended) | (Key & Collecting);

/** False: nothing is to be done now, or another worker is at it. */
const takeStep = async (org: number, settings: OutboxSettings): Promise<boolean> => {
  const rows = await table.query<Row>({ pk: keys.outbox(org, "").pk, limit: rowsAtOnce });
  // A collecting scan whose first message is not due does not hold up the next one.
  for (let index = 0; index < rows.length; ) {
    const collecting = rows[index]?.type === "collecting" ? (rows[index++] as Key & Collecting) : undefined;
    const row = rows[index];
    if (collecting !== undefined && (await isFirstDue(org, collecting))) return reportSoFar(org, collecting);
    const isOfScan = row !== undefined && "scanId" in row && row.scanId === collecting?.scanId;
    if (collecting !== undefined && !isOfScan) continue;
    switch (row?.type) {
      case "problem":
        return reportProblem(org, row);
      case "risen":
        return reportRise(org, row);
      case "reopened":
        return reportReopened(
          org,
          rowsOfReopened(rows.slice(index).filter((each) => each.type === "reopened")),
        );
      case "ended":
        return reportEnd(org, row, collecting);
      case "findings":
        return row.to === undefined
          ? reportFindings(org, collecting, rowsOfFindings(rows, index), settings)
          : reportGathered(org, row);
    }
  }
  return false;
};

/** The rows of findings of one scan from a place on. */
const rowsOfFindings = (rows: readonly Row[], index: number): FindingsRow[] => {
  const taken: FindingsRow[] = [];
  for (const row of rows.slice(index)) {
    if (row.type !== "findings" || row.scanId !== (taken[0] ?? row).scanId) break;
    taken.push(row);
  }
  return taken;
};

const isFirstDue = async (org: number, { scanId, firstMessageAt }: Collecting): Promise<boolean> =>
  firstMessageAt !== undefined &&
  firstMessageAt <= new Date().toISOString() &&
  // The last message tells everything.
  (await table.get(keyOfScan(org, scanId, "ended"))) === undefined;

/** Wakes a worker for each row that is due, because its message was lost or its worker has died. */
export const wakeDue = async (invocation: Invocation): Promise<void> => {
  const now = new Date();
  const failures = await forEachDue("OUTBOX", now, invocation, async (key) => {
    const { written } = await table.attempt(
      table.update(key, {
        set: { dueAt: secondsAfter(new Date(), lostAfterSeconds) },
        if: condition("#dueAt <= :now", { now: now.toISOString() }),
      }),
    );
    if (written) await wake(organizationOf(key));
  });
  if (failures > 0) throw failedRows(failures);
};
