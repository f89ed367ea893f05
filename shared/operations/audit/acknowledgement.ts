import { absent, condition, exists } from "../../aws/table/condition.ts";
import { dueShard, type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { type AcknowledgementLock, heldBy } from "../../findings/acknowledgements/lock.ts";
import { type AcknowledgementRow, type LaneRow, lanes } from "../../findings/acknowledgements/record.ts";
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
  const lanesOf = keys.acknowledgementLane(org, 0, 0).pk;
  for (const key of await table.query<Key>({ pk: lanesOf, project: ["pk", "sk"] })) {
    await inspect({ kind: "acknowledgement lane", id: Number.parseInt(key.sk, 10) }, inspectLane(org, key));
  }
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
      repair: () => table.remove(key, heldBy(id)),
    };
  };

/** A request in progress must hold the lock and have its lanes; one that has ended cannot have done more than there was to do. */
const inspectRequest =
  (org: number, id: number): Inspection<Problem> =>
  async () => {
    const key = keys.acknowledgement(org, id);
    const laneKeys = lanes.map((lane) => keys.acknowledgementLane(org, id, lane));
    const [row, lock, ...laneRows] = await table.getMany([key, keys.acknowledgementLock(org), ...laneKeys]);
    const { status, matching, acknowledged } = row as AcknowledgementRow;
    const sum = (laneRows as (LaneRow | undefined)[]).reduce(
      (all, lane) => all + (lane?.acknowledged ?? 0),
      0,
    );
    if ((acknowledged ?? sum) > matching) {
      return {
        says: `it has acknowledged ${acknowledged ?? sum} findings, more than the ${matching} that matched`,
        advice: "The findings themselves are compared one by one: see whether they differ.",
      };
    }
    if (status !== "running") return undefined;
    if (laneRows.includes(undefined)) {
      return {
        says: "it is in progress and a lane is not there",
        advice: "It fails within about an hour. Request the same again after that.",
      };
    }
    if ((lock as AcknowledgementLock | undefined)?.acknowledgementId === id) return undefined;
    const taken: AcknowledgementLock = {
      acknowledgementId: id,
      fruitlessWakes: 0,
      progress: "",
      dueShard: dueShard("ACKNOWLEDGEMENT", org),
      dueAt: new Date().toISOString(),
    };
    return {
      says: "it is in progress and does not hold the lock",
      repair: () =>
        table.transact([
          { check: key, if: isRunning },
          { put: { ...keys.acknowledgementLock(org), ...taken }, if: absent },
        ]),
    };
  };

/** A lane must be of a request that is in progress. */
const inspectLane =
  (org: number, key: Key): Inspection<Problem> =>
  async () => {
    const id = Number.parseInt(key.sk, 10);
    if ((await table.get(key)) === undefined) return undefined;
    const row = await table.get<AcknowledgementRow>(keys.acknowledgement(org, id));
    if (row?.status === "running") return undefined;
    // The request may have ended between the two reads.
    if ((await table.get(key)) === undefined) return undefined;
    return { says: "its request has ended", repair: () => table.remove(key, exists) };
  };
