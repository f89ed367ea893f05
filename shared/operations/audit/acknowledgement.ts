import { absent, condition } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import {
  type AcknowledgementLock,
  type AcknowledgementRow,
  isAsRead,
  newLock,
} from "../../findings/acknowledgements/record.ts";
import { inspectDue } from "./due-index.ts";
import type { Inspection, Inspector, Problem } from "./inspector.ts";

/** Audits the requests of an organization to acknowledge many findings; gives how many there are. */
export const auditAcknowledgements = async (org: number, { inspect }: Inspector): Promise<number> => {
  const lockKey = keys.acknowledgementLock(org);
  await inspect({ kind: "acknowledgement lock", id: org }, inspectLock(org));
  await inspect({ kind: "acknowledgement lock", id: org }, inspectDue("ACKNOWLEDGEMENT", org, lockKey));
  const { pk } = keys.acknowledgement(org, 0);
  const rows = await table.query<{ id: number }>({ pk, project: ["id"] });
  // One after the other, since a repair gives the lock to one request only.
  for (const { id } of rows) await inspect({ kind: "acknowledgement", id }, inspectRequest(org, id));
  return rows.length;
};

const isRunning = condition("#status = :running", { running: "running" });

/** The lock must name a request that is in progress. */
const inspectLock =
  (org: number): Inspection<Problem> =>
  async () => {
    const key = keys.acknowledgementLock(org);
    const lock = await table.get<AcknowledgementLock>(key);
    if (lock === undefined) return undefined;
    const { acknowledgementId: id } = lock;
    const row = await table.get<AcknowledgementRow>(keys.acknowledgement(org, id));
    if (row?.status === "running") return undefined;
    return {
      says: `it names acknowledgement ${id}, which ${row === undefined ? "is not there" : "has ended"}`,
      repair: () => table.remove(key, isAsRead(lock)),
    };
  };

/** A request in progress must hold the lock; one cannot have done more than there was to do. */
const inspectRequest =
  (org: number, id: number): Inspection<Problem> =>
  async () => {
    const lock = await table.get<AcknowledgementLock>(keys.acknowledgementLock(org));
    const row = await table.get<AcknowledgementRow>(keys.acknowledgement(org, id));
    if (row === undefined) return undefined;
    const isHolder = lock?.acknowledgementId === id;
    const acknowledged = row.acknowledged ?? (isHolder ? lock.acknowledged : 0);
    if (acknowledged > row.matching) {
      return {
        says: `it has acknowledged ${acknowledged} findings, more than the ${row.matching} that matched`,
        advice: "The findings themselves are compared one by one: see whether they differ.",
      };
    }
    if (row.status !== "running" || isHolder) return undefined;
    return {
      says: "it is in progress and does not hold the lock",
      // It starts over: findings that it has acknowledged already are acknowledged and counted again.
      repair: () =>
        table.transact([
          { check: keys.acknowledgement(org, id), if: isRunning },
          { put: { ...keys.acknowledgementLock(org), ...newLock(org, id) }, if: absent },
        ]),
    };
  };
