import type { Actor } from "../../access/activity/actor.ts";
import { type Condition, condition } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Reserved } from "../../lists/blocks.ts";
import type { Resolution } from "../finding-schema.ts";
import type { Acknowledgement } from "./acknowledgement-schema.ts";
import type { Selection } from "./selection.ts";

/** A request to acknowledge many findings. Its row is written when it is made and when it ends. */
export type AcknowledgementRow = {
  id: number;
  status: Acknowledgement["status"];
  matching: number;
  /** Set at the end; before that, the lanes know. */
  acknowledged?: number;
  completedAt: string | null;
  /** The log entry's. Its `createdAt` is the time of the request, and of the acknowledgment of each finding. */
  slot: Reserved;
  by: Actor;
  resolution: Resolution;
  reason: string | null;
  /** Removed at the end, since it can be large. */
  selection?: Selection;
};

/**
 * Lanes work at the same time, each on blocks of its own, so that they rarely write to the same row. The number is part of
 * what is stored.
 */
export const lanes = [0, 1, 2, 3] as const;

/** The lane that a block belongs to. */
export const laneOf = (block: number): number => block % lanes.length;

/** How far a lane is. The row exists until the request ends. */
export type LaneRow = {
  /** Findings of the lane with ids up to this are done. */
  cursor: number;
  acknowledged: number;
  isDone: boolean;
};

/** The lane is as it was read: nobody else has worked on it since. */
export const isAsRead = ({ cursor, acknowledged, isDone }: LaneRow): Condition =>
  condition("#cursor = :cursor AND #acknowledged = :acknowledged AND #isDone = :isDone", {
    cursor,
    acknowledged,
    isDone,
  });

export type State = { row: AcknowledgementRow; lanes: (LaneRow | undefined)[] };

/** A request and its lanes, which are missing once it has ended. */
export const readState = async (org: number, id: number): Promise<State | undefined> => {
  const [row, ...laneRows] = await table.getMany([
    keys.acknowledgement(org, id),
    ...lanes.map((lane) => keys.acknowledgementLane(org, id, lane)),
  ]);
  return row && { row: row as AcknowledgementRow, lanes: laneRows as (LaneRow | undefined)[] };
};

/** How many findings the lanes have acknowledged. */
export const sumOf = ({ lanes: laneRows }: State): number =>
  laneRows.reduce((sum, lane) => sum + (lane?.acknowledged ?? 0), 0);
