import type { Logger } from "@aws-lambda-powertools/logger";
import * as activity from "../../access/activity/activity.ts";
import { alive } from "../../aws/queue/job.ts";
import { condition, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { details } from "../../hibp/breach-details.ts";
import { severityAt } from "../../hibp/severity.ts";
import type { Reserved } from "../../lists/blocks.ts";
import { entryOfRule } from "../rules/entries.ts";
import { rulesInOrder } from "../rules/rule-schema.ts";
import {
  type AcknowledgementLock,
  type AcknowledgementRow,
  isAsRead,
  lockKeyOf,
  purposeOf,
  type RuleCounts,
} from "./record.ts";

/**
 * Ends a request, exactly once. Its status and count, the release of the lock and the log entry are one
 * transaction. It is refused if a worker has gone on since the lock was read. True when this call ended it.
 * `notice`: tells people of it, in the same transaction.
 */
export const end = async (
  org: number,
  row: AcknowledgementRow,
  lock: AcknowledgementLock,
  status: "completed" | "failed",
  logger: Logger,
  notice: readonly Write[] = [],
): Promise<boolean> => {
  const { acknowledged } = lock;
  const entry =
    row.looks === undefined
      ? await entryOf(org, row, acknowledged)
      : await entriesOfRules(org, lock.ruleCounts);
  const { written } = await table.attempt(
    table.transact([
      release(org, row, lock, status),
      {
        update: keys.acknowledgement(org, row.id),
        set: { status, acknowledged, completedAt: new Date().toISOString() },
        remove: ["selection"],
        if: condition("#status = :status", { status: "running" }),
      },
      ...entry,
      ...notice,
    ]),
  );
  if (written) {
    logger.info("findings changed", {
      organizationId: org,
      purpose: purposeOf(row),
      acknowledgementId: row.id,
      status,
      acknowledged,
    });
  }
  return written;
};

/**
 * The service's lock stays: other breaches may have changed too, or the same one again, and follow.ts
 * looks for them next.
 */
const release = (
  org: number,
  row: AcknowledgementRow,
  lock: AcknowledgementLock,
  status: "completed" | "failed",
): Write => {
  const purpose = purposeOf(row);
  const key = lockKeyOf(org, purpose);
  return purpose === "follow"
    ? {
        update: key,
        set: {
          ...alive(),
          ...(row.follows && status === "completed" && { [reportedNameOf(row.follows)]: row.follows.level }),
        },
        remove: ["acknowledgementId"],
        if: isAsRead(lock),
      }
    : { delete: key, if: isAsRead(lock) };
};

/** Under which name the lock says what people know of a breach. */
export const reportedNameOf = ({ breachId }: { breachId: number }): `reported${number}` =>
  `reported${breachId}`;

/** One log entry for all findings; none when there is no finding. */
const entryOf = async (org: number, row: AcknowledgementRow, count: number): Promise<Write[]> => {
  if (count === 0) return [];
  const { by, resolution, reason, follows, about = "" } = row;
  const slot = await activity.slot(org);
  const howMany = `${count} breach ${count === 1 ? "finding" : "findings"}`;
  const because = reason === null ? "" : `: ${reason}`;
  if (resolution !== null) {
    const summary = `Acknowledged ${howMany} ${about}as ${resolution}${because}`;
    return activity.writes(org, slot, { action: "findings.acknowledged", summary, actor: by });
  }
  const summary =
    follows === undefined
      ? `Reopened ${howMany} ${about}`.trimEnd() + because
      : `Reopened ${howMany} of ${await titleOf(follows.breachId)}, whose severity has risen to ` +
        `${severityAt(follows.level)}`;
  return activity.writes(org, slot, { action: "findings.reopened", summary, actor: by });
};

/** For each rule one entry for all findings that it has ended, and one for those that are open again. */
const entriesOfRules = async (org: number, ruleCounts: RuleCounts | undefined): Promise<Write[]> => {
  const counted = rulesInOrder.flatMap((rule) =>
    (["ended", "reopened"] as const).map((what) => ({ rule, what, count: ruleCounts?.[what][rule] ?? 0 })),
  );
  const entries = counted.filter(({ count }) => count > 0);
  const slots = await activity.slots(org, entries.length);
  return activity.writesOfSeveral(
    org,
    entries.map(({ rule, what, count }, index) => ({
      reserved: slots[index] as Reserved,
      ...entryOfRule(rule, what, count),
    })),
  );
};

const titleOf = async (breachId: number): Promise<string> =>
  (await details([breachId])).get(breachId)?.title ?? `breach ${breachId}`;
