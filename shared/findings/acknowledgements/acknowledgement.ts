/** Acknowledging many findings at once: a request in the table, which a worker carries out (work.ts). */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import * as queue from "../../aws/queue/queue.ts";
import { absent, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { drawId } from "../../lists/blocks.ts";
import type { Acknowledgement, AcknowledgementRequest } from "./acknowledgement-schema.ts";
import { type AcknowledgementLock, type AcknowledgementRow, newLock } from "./record.ts";
import { type Selected, selectIds, selectMatching } from "./selection.ts";

type Chosen = Pick<AcknowledgementRequest, "ids" | "filter">;

const select = (org: number, { ids, filter = {} }: Chosen): Promise<Selected> =>
  ids === undefined ? selectMatching(org, filter) : selectIds(org, ids);

/** How many findings a request would be about. Refuses `findingNotFound`. */
export const countMatching = async (org: number, chosen: Chosen): Promise<number> =>
  (await select(org, chosen)).matching;

/**
 * Requests that findings are acknowledged, and wakes a worker. Refuses `findingNotFound` when an id is not the organization's, and
 * `acknowledgementInProgress`. `also`: further writes of the transaction.
 */
export const request = async (
  org: number,
  { ids, filter, resolution, reason }: Omit<AcknowledgementRequest, "dryRun">,
  by: Actor,
  also: readonly Write[] = [],
): Promise<{ id: number; matching: number }> => {
  // The slot first: its time is that of the request.
  const slot = await activity.slot(org);
  const [{ selection, matching }, lock] = await Promise.all([
    select(org, { ids, filter }),
    table.get(keys.acknowledgementLock(org)),
  ]);
  if (lock !== undefined) throw new Refusal("acknowledgementInProgress");
  const id = await drawId("ACKNOWLEDGEMENT");
  const row: AcknowledgementRow = {
    id,
    status: "running",
    matching,
    completedAt: null,
    slot,
    by,
    resolution,
    reason: reason ?? null,
    selection,
  };
  await table.transact([
    {
      put: { ...keys.acknowledgementLock(org), ...newLock(org, id) },
      if: absent,
      refusal: "acknowledgementInProgress",
    },
    { put: { ...keys.acknowledgement(org, id), ...row }, if: absent },
    ...also,
  ]);
  // If SQS does not take the message, the next sweep sends it.
  await queue
    .send("acknowledgements", { organizationId: org, acknowledgementId: id }, { group: String(org) })
    .catch(() => {});
  return { id, matching };
};

/** A request as clients see it. Refuses `acknowledgementNotFound`. */
export const get = async (org: number, id: number): Promise<Acknowledgement> => {
  // The lock first: it goes in the transaction that sets the count of the request.
  const lock = await table.get<AcknowledgementLock>(keys.acknowledgementLock(org));
  const row = await table.get<AcknowledgementRow>(keys.acknowledgement(org, id));
  if (row === undefined) throw new Refusal("acknowledgementNotFound");
  const { status, matching, completedAt, slot } = row;
  const soFar = lock?.acknowledgementId === id ? lock.acknowledged : 0;
  return {
    id,
    status,
    matching,
    acknowledged: row.acknowledged ?? soFar,
    createdAt: slot.createdAt,
    completedAt,
  };
};
