/** The worker of what follows from changes in directories. */
import { activeCount, enabledOf } from "../../access/billing/billing.ts";
import * as organizations from "../../access/organizations/organization.ts";
import type { Invocation } from "../../aws/queue/consume.ts";
import { type Key, keys, organizationOf } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { reconcile } from "./reconcile.ts";
import { done, keyOf, list, subjectOf, type Task, wake } from "./task.ts";
import { step } from "./walk.ts";

/** With less time left no further step is begun. */
const reserveSeconds = 15;

const tasksAtOnce = 100;

/**
 * Does the tasks of an organization until none is left, or its time is up. A task that fails is logged and left
 * to the sweep, and holds up no other.
 */
export const work = async (
  { organizationId: org }: { organizationId: number },
  { logger, remainingSeconds }: Invocation,
): Promise<void> => {
  const organization = await organizations.get(org);
  if (organization === undefined || organization.deleting === true) return;
  const failed = new Set<string>();
  const attempt = async (names: readonly string[], act: () => Promise<void>): Promise<boolean> => {
    try {
      await act();
      return true;
    } catch (error) {
      if (names.length === 1) {
        failed.add(names[0] as string);
        logger.error("directory task failed", { organizationId: org, error: error as Error });
      }
      return false;
    }
  };
  for (;;) {
    const tasks = (await list(org, tasksAtOnce + failed.size)).filter(
      (task) => subjectOf(task).kind !== "SEATS" && !failed.has(task.sk),
    );
    const [first] = tasks;
    if (first === undefined) break;
    if (remainingSeconds() < reserveSeconds) return wake(org);
    const addresses = tasks.filter((task) => subjectOf(task).kind === "ADDRESS");
    if (addresses.length === 0) {
      await attempt([first.sk], () => step(org, first));
      continue;
    }
    const reconcileAll = (some: readonly Task[]) =>
      attempt(
        some.map(({ sk }) => sk),
        () =>
          reconcile(
            org,
            some.map((task) => subjectOf(task).about),
          ),
      );
    if (await reconcileAll(addresses)) continue;
    for (const task of addresses) {
      if (remainingSeconds() < reserveSeconds) return wake(org);
      await reconcileAll([task]);
    }
  }
  await giveSeats(org);
  if (failed.size > 0) throw new Error(`${failed.size} tasks of directories failed; the log says why`);
};

/** Seats that became free go to those who have waited longest. */
const giveSeats = async (org: number): Promise<void> => {
  const task = await table.get<Task>(keyOf(org, "SEATS", "first"));
  if (task === undefined) return;
  const { pk } = keys.seatWait(org, "", "");
  const waiting = await table.query<Key>({ pk, limit: tasksAtOnce });
  if (waiting.length === 0) {
    // It fails if somebody has begun to wait meanwhile.
    await table.attempt(table.transact([done(task)]));
    return;
  }
  const [{ billing }, active] = await Promise.all([organizations.existing(org), activeCount(org)]);
  const room = enabledOf(billing, active, waiting.length);
  await reconcile(
    org,
    waiting.slice(0, room).map(({ sk }) => sk.slice(sk.indexOf("#") + 1)),
    { mayTakeSeats: true },
  );
};

/** Wakes the worker of each organization once for all of its tasks that are overdue. */
export const sweepTasks = (): ((key: Key) => Promise<void>) => {
  const woken = new Set<number>();
  return async (key) => {
    const org = organizationOf(key);
    if (woken.has(org)) return;
    woken.add(org);
    await wake(org);
  };
};
