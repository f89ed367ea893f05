/** Acknowledging many findings at once: a request in the table, which a worker carries out (work.ts). */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import * as queue from "../../aws/queue/queue.ts";
import { absent, type Write } from "../../aws/table/condition.ts";
import { dueShard, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { drawId } from "../../lists/blocks.ts";
import type { Acknowledgement, AcknowledgementRequest } from "./acknowledgement-schema.ts";
import type { AcknowledgementLock } from "./lock.ts";
import { type AcknowledgementRow, type LaneRow, lanes, readState, sumOf } from "./record.ts";
import { type Selected, selectIds, selectMatching } from "./selection.ts";

type Chosen = Pick<AcknowledgementRequest, "ids" | "filter">;

const select = (org: number, { ids, filter = {} }: Chosen): Promise<Selected> =>
  ids === undefined ? selectMatching(org, filter) : selectIds(org, ids);

/** How many findings a request would be about. Refuses `findingNotFound`. */
export const countMatching = async (org: number, chosen: Chosen): Promise<number> =>
  (await select(org, chosen)).matching;

/**
 * Requests that findings are acknowledged, and wakes a worker. Refuses `findingNotFound` when an id is not the organization's, and
 * `acknowledgementInProgress`.
 */
export const request = async (
  org: number,
  { ids, filter, resolution, reason }: Omit<AcknowledgementRequest, "dryRun">,
  by: Actor,
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
  const taken: AcknowledgementLock = {
    acknowledgementId: id,
    fruitlessWakes: 0,
    progress: "",
    dueShard: dueShard("ACKNOWLEDGEMENT", org),
    dueAt: slot.createdAt,
  };
  const lane: LaneRow = { cursor: 0, acknowledged: 0, isDone: false };
  await table.transact([
    { put: { ...keys.acknowledgementLock(org), ...taken }, if: absent, refusal: "acknowledgementInProgress" },
    { put: { ...keys.acknowledgement(org, id), ...row }, if: absent },
    ...lanes.map(
      (place): Write => ({ put: { ...keys.acknowledgementLane(org, id, place), ...lane }, if: absent }),
    ),
  ]);
  // If SQS does not take the message, the next sweep sends it.
  await queue
    .send("acknowledgements", { organizationId: org, acknowledgementId: id }, { group: String(org) })
    .catch(() => {});
  return { id, matching };
};

/** The lanes can be gone when they are read right after the request, because it has just ended. */
const maximumReadings = 3;

/** A request as clients see it. Refuses `acknowledgementNotFound`. */
export const get = async (org: number, id: number): Promise<Acknowledgement> => {
  for (let readings = 1; ; readings++) {
    const state = await readState(org, id);
    if (state === undefined) throw new Refusal("acknowledgementNotFound");
    const { status, matching, acknowledged, completedAt, slot } = state.row;
    if (acknowledged === undefined && state.lanes.includes(undefined) && readings < maximumReadings) continue;
    return {
      id,
      status,
      matching,
      acknowledged: acknowledged ?? sumOf(state),
      createdAt: slot.createdAt,
      completedAt,
    };
  }
};
