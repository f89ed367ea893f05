import * as activity from "../access/activity/activity.ts";
import { type Actor, service } from "../access/activity/actor.ts";
import * as queue from "../aws/queue/queue.ts";
import type { Write } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { Refusal } from "../contract/errors.ts";
import { reserveOne } from "../lists/blocks.ts";
import * as domains from "../monitoring/domains/domain.ts";
import { emails } from "../monitoring/emails/record.ts";
import { problemOccurred } from "../outbox/outbox.ts";
import type { ScanLock } from "./lock.ts";
import { scans } from "./record.ts";
import type { ScanType } from "./scan-schema.ts";
import { notQueued, starting } from "./transitions.ts";

/**
 * Starts a scan and returns its id: writes the scan, takes the organization's scan lock, and wakes a planner.
 * `count` counts the request against its limit, also when it is refused. `also`: further writes. They go
 * first in the transaction that starts the scan, and in the one that ends an unqueued scan.
 *
 * @throws Refusal `scanInProgress`, `noActiveEmails`, or `scanNotQueued` when SQS did not take the
 * message of a manual scan.
 */
export const start = async (
  org: number,
  type: ScanType,
  actor: Actor,
  count: () => Promise<void> = async () => {},
  also: { withStart?: (id: number) => readonly Write[]; withFailure?: () => readonly Write[] } = {},
): Promise<number> => {
  const [lock, tally, allDomains, earlier] = await Promise.all([
    table.get<ScanLock>(keys.scanLock(org)),
    emails.tally(org),
    domains.list(org),
    scans.tally(org),
    count(),
  ]);
  if (lock !== undefined) throw new Refusal("scanInProgress");
  const verified = new Set(allDomains.filter((domain) => domain.verified).map((domain) => domain.id));
  const totalEmails = emails.sum(tally, (group) => group.isActive && verified.has(group.domainId));
  const skippedEmails = emails.sum(tally, (group) => group.isActive && !verified.has(group.domainId));
  if (totalEmails === 0) throw new Refusal("noActiveEmails");

  const isFirst = scans.sum(earlier, ({ status }) => status === "completed") === 0;
  const [reserved, slot] = await Promise.all([reserveOne(org, "SCAN"), activity.slot(org)]);
  const { id } = reserved;
  await table.transact([
    ...(also.withStart?.(id) ?? []),
    ...starting(org, reserved, type, { totalEmails, skippedEmails, isFirst }),
    ...activity.writes(org, slot, {
      action: "scan.started",
      summary:
        `Started a ${type.replace("_", "-")} scan of ${totalEmails} ` +
        `${totalEmails === 1 ? "address" : "addresses"}`,
      actor,
    }),
  ]);
  try {
    await queue.send("scan-plans", { organizationId: org, scanId: id, fencingToken: 0 });
  } catch {
    // Nobody waits for what the service starts by itself: the sweep wakes a planner.
    if (type !== "manual") return id;
    await endUnqueued(org, id, totalEmails, also.withFailure?.() ?? []);
    throw new Refusal("scanNotQueued");
  }
  return id;
};

/**
 * Ends a manual scan whose message SQS did not take. If this fails too, the sweep wakes a planner for
 * the scan. The alert goes out once the outbox's row is due.
 */
const endUnqueued = async (
  org: number,
  id: number,
  totalEmails: number,
  also: readonly Write[],
): Promise<void> => {
  const errorMessage = "The scan could not be queued";
  const slot = await activity.slot(org);
  await table.transact([
    ...notQueued(org, id, totalEmails, { errorMessage, completedAt: slot.createdAt }),
    ...activity.writes(org, slot, { action: "scan.failed", summary: errorMessage, actor: service }),
    problemOccurred(org, { scanId: id, error: errorMessage }),
    ...also,
  ]);
};
