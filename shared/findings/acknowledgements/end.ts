import type { Logger } from "@aws-lambda-powertools/logger";
import * as activity from "../../access/activity/activity.ts";
import type { Write } from "../../aws/table/condition.ts";
import { condition } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { heldBy } from "./lock.ts";
import { type AcknowledgementRow, isAsRead, lanes, readState, sumOf } from "./record.ts";

/** A try fails only when a worker has acknowledged more findings since the lanes were read. */
const maximumTries = 20;

/**
 * Ends a request, exactly once: its status and count, the release of the lock and the one log entry are a transaction, which also
 * deletes the lanes, so that workers that are still at it write nothing more. As completed only if all lanes are done. True
 * when this call ended it.
 */
export const end = async (
  org: number,
  id: number,
  status: "completed" | "failed",
  logger: Logger,
): Promise<boolean> => {
  for (let count = 0; count < maximumTries; count++) {
    const state = await readState(org, id);
    if (state === undefined || state.row.status !== "running") return false;
    if (status === "completed" && !state.lanes.every((lane) => lane?.isDone)) return false;
    const acknowledged = sumOf(state);
    const { row } = state;
    const ending = await table.attempt(
      table.transact([
        { delete: keys.acknowledgementLock(org), if: heldBy(id) },
        {
          update: keys.acknowledgement(org, id),
          set: { status, acknowledged, completedAt: new Date().toISOString() },
          remove: ["selection"],
          if: condition("#status = :running", { running: "running" }),
        },
        ...lanes.flatMap((place): Write[] => {
          const lane = state.lanes[place];
          const key = keys.acknowledgementLane(org, id, place);
          return lane === undefined ? [] : [{ delete: key, if: isAsRead(lane) }];
        }),
        ...entryOf(org, row, acknowledged),
      ]),
    );
    if (ending.written) {
      logger.info("findings acknowledged", {
        organizationId: org,
        acknowledgementId: id,
        status,
        acknowledged,
      });
      return true;
    }
    // The first write fails when the lock is lost: the request has ended, or its organization is being deleted.
    if (ending.failed.some(({ index }) => index === 0)) return false;
  }
  throw new Error(`Findings were acknowledged during each of ${maximumTries} tries to end request ${id}`);
};

/** One log entry for all findings, with the time that they carry; none when there is no finding. */
const entryOf = (org: number, { slot, by, resolution }: AcknowledgementRow, acknowledged: number): Write[] =>
  acknowledged === 0
    ? []
    : activity.writes(org, slot, {
        action: "findings.acknowledged",
        summary: `Acknowledged ${acknowledged} breach ${acknowledged === 1 ? "finding" : "findings"} as ${resolution}`,
        actor: by,
      });
