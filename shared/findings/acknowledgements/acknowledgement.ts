/** Acknowledging or reopening many findings at once: a request in the table, which a worker carries out (work.ts). */
import type { Actor } from "../../access/activity/actor.ts";
import { absent } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { drawId } from "../../lists/blocks.ts";
import type { Resolution } from "../finding-schema.ts";
import type { Acknowledgement, AcknowledgementRequest, Reopening } from "./acknowledgement-schema.ts";
import { filterInWords } from "./filter-words.ts";
import {
  type AcknowledgementLock,
  type AcknowledgementRow,
  newLock,
  type Purpose,
  purposeOf,
  timeOfRequest,
  wake,
} from "./record.ts";
import { type Selected, selectIds, selectMatching } from "./selection.ts";

type Chosen = Pick<AcknowledgementRequest, "ids" | "filter">;
type PurposeOfPeople = Exclude<Purpose, "follow">;

/** Only acknowledged findings can be reopened. */
const select = async (
  org: number,
  purpose: PurposeOfPeople,
  { ids, filter = {} }: Chosen,
): Promise<Selected> => {
  if (purpose === "reopen" && filter.acknowledged === false) return { selection: { ids: [] }, matching: 0 };
  const wanted = purpose === "reopen" ? { ...filter, acknowledged: true } : filter;
  return ids === undefined ? selectMatching(org, wanted) : selectIds(org, ids, wanted);
};

/** How many findings a request would be about. Refuses `findingNotFound`. */
export const countMatching = async (
  org: number,
  chosen: Chosen,
  purpose: PurposeOfPeople = "acknowledge",
): Promise<number> => (await select(org, purpose, chosen)).matching;

/**
 * Requests that findings are acknowledged, or reopened where there is no `resolution`, and wakes a
 * worker. Refuses `findingNotFound` when an id is not the organization's, and
 * `acknowledgementInProgress`.
 */
export const request = async (
  org: number,
  { ids, filter, resolution, reason }: Chosen & { resolution?: Resolution; reason?: string | undefined },
  by: Actor,
): Promise<{ id: number; matching: number }> => {
  const purpose = resolution === undefined ? "reopen" : "acknowledge";
  const requestedAt = await timeOfRequest(org);
  const [{ selection, matching }, lock, about] = await Promise.all([
    select(org, purpose, { ids, filter }),
    table.get(keys.acknowledgementLock(org)),
    filterInWords(org, filter),
  ]);
  if (lock !== undefined) throw new Refusal("acknowledgementInProgress");
  const id = await drawId("ACKNOWLEDGEMENT");
  const row: AcknowledgementRow = {
    id,
    status: "running",
    matching,
    completedAt: null,
    requestedAt,
    by,
    resolution: resolution ?? null,
    reason: reason ?? null,
    about,
    selection,
  };
  await table.transact([
    {
      put: { ...keys.acknowledgementLock(org), ...newLock(org, id) },
      if: absent,
      refusal: "acknowledgementInProgress",
    },
    { put: { ...keys.acknowledgement(org, id), ...row }, if: absent },
  ]);
  await wake(org, id).catch(() => {});
  return { id, matching };
};

/** How far a request is: whether, when and of how many findings it has ended. */
type State = Omit<Acknowledgement, "acknowledged"> & { done: number };

const stateOf = async (org: number, id: number, purpose: PurposeOfPeople): Promise<State> => {
  // The lock first: it goes in the transaction that sets the count of the request.
  const lock = await table.get<AcknowledgementLock>(keys.acknowledgementLock(org));
  const row = await table.get<AcknowledgementRow>(keys.acknowledgement(org, id));
  if (row === undefined || purposeOf(row) !== purpose)
    throw new Refusal(purpose === "reopen" ? "reopeningNotFound" : "acknowledgementNotFound");
  const { status, matching, completedAt, requestedAt } = row;
  const soFar = lock?.acknowledgementId === id ? lock.acknowledged : 0;
  return {
    id,
    status,
    matching,
    done: row.acknowledged ?? soFar,
    createdAt: requestedAt,
    completedAt,
  };
};

/** A request to acknowledge as clients see it. Refuses `acknowledgementNotFound`. */
export const get = async (org: number, id: number): Promise<Acknowledgement> => {
  const { done: acknowledged, ...rest } = await stateOf(org, id, "acknowledge");
  return { ...rest, acknowledged };
};

/** A request to reopen as clients see it. Refuses `reopeningNotFound`. */
export const getReopening = async (org: number, id: number): Promise<Reopening> => {
  const { done: reopened, ...rest } = await stateOf(org, id, "reopen");
  return { ...rest, reopened };
};
