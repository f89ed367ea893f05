import type { Logger } from "@aws-lambda-powertools/logger";
import * as activity from "../../access/activity/activity.ts";
import { condition, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { type AcknowledgementLock, type AcknowledgementRow, isAsRead } from "./record.ts";

/**
 * Ends a request, exactly once: its status and count, the release of the lock and the one log entry are a transaction, which
 * is refused if a worker has gone on since the lock was read. True when this call ended it.
 */
export const end = async (
  org: number,
  row: AcknowledgementRow,
  lock: AcknowledgementLock,
  status: "completed" | "failed",
  logger: Logger,
): Promise<boolean> => {
  const { acknowledged } = lock;
  const { written } = await table.attempt(
    table.transact([
      { delete: keys.acknowledgementLock(org), if: isAsRead(lock) },
      {
        update: keys.acknowledgement(org, row.id),
        set: { status, acknowledged, completedAt: new Date().toISOString() },
        remove: ["selection"],
        if: condition("#status = :running", { running: "running" }),
      },
      ...entryOf(org, row, acknowledged),
    ]),
  );
  if (written) {
    logger.info("findings acknowledged", {
      organizationId: org,
      acknowledgementId: row.id,
      status,
      acknowledged,
    });
  }
  return written;
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
