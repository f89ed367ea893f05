/** Watching and ignoring breached addresses that nobody watches. */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import type { Quote } from "../../access/billing/billing-schema.ts";
import { chunk } from "../../aws/table/chunk.ts";
import type { Write } from "../../aws/table/condition.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { blockOf } from "../../lists/blocks.ts";
import type { MemberWrite } from "../../lists/member-writes.ts";
import { importAll } from "../imports/commit.ts";
import { monitoredOf, plan } from "../imports/plan.ts";
import { type Unwatched, unwatched } from "./record.ts";

/** What importing the addresses would cost now. Refuses `unwatchedNotFound`, `domainNotVerified`. */
export const quote = async (org: number, ids: readonly number[]): Promise<Quote> =>
  (await planOf(org, await addressesOf(org, ids))).quote;

/**
 * Watches addresses as an import does. Skips those that are watched by now or have left the list. Refuses what `quote` refuses, before
 * anything is done.
 */
export const watch = async (
  org: number,
  ids: readonly number[],
  actor: Actor,
): Promise<{ addedCount: number; disabledCount: number }> => {
  const addresses = await addressesOf(org, ids);
  const { emails } = await planOf(org, addresses);
  const rows = emails.flatMap(({ email, domainId, status }) =>
    status === "will_import" && domainId !== null ? { email, domainId } : [],
  );
  const { imported, disabled } =
    rows.length > 0 ? await importAll(org, rows, actor) : { imported: 0, disabled: 0 };
  const takeOff = async (): Promise<void> => {
    const monitored = await monitoredOf(org, addresses);
    await change(org, ids, (row) =>
      monitored.has(row.email) ? unwatched.delete(org, row.id, unwatched.groupOf(row)) : undefined,
    );
  };
  // They are watched even if this fails: the next scan takes them off the list.
  await takeOff().catch(() => {});
  return { addedCount: imported, disabledCount: disabled };
};

/**
 * Ignores addresses, or stops ignoring them. Nothing but the address is kept of an ignored one, and after it the next scan fills in
 * again what is known.
 * Addresses that have left the list are skipped. Refuses `unwatchedNotFound` before anything is done.
 */
export const ignore = async (
  org: number,
  ids: readonly number[],
  ignored: boolean,
  actor: Actor,
): Promise<void> => {
  await addressesOf(org, ids);
  const slot = await activity.slot(org);
  const logged = (before: number, changed: number): Write[] => {
    const all = before + changed;
    const summary = `${ignored ? "Ignored" : "Stopped ignoring"} ${all} unwatched ${all === 1 ? "address" : "addresses"}`;
    const action = ignored ? "unwatched.ignored" : "unwatched.restored";
    return activity.counting(org, slot, before > 0, { action, summary, actor });
  };
  const changeOf = (row: Unwatched): MemberWrite | undefined => {
    const from = unwatched.groupOf(row);
    if (from.isIgnored === ignored) return undefined;
    const to = { ...from, isIgnored: ignored, level: 0 };
    return unwatched.change(org, row.id, { from, to, remove: ["breachCount", "worst", "firstSeenAt"] });
  };
  await change(org, ids, changeOf, logged);
};

const planOf = async (org: number, addresses: readonly string[]) => {
  const planned = await plan(
    org,
    addresses.map((email) => ({ email })),
  );
  if (planned.emails.some(({ status }) => status === "invalid")) throw new Refusal("domainNotVerified");
  return planned;
};

/** The addresses with these ids that are still on the list. Refuses `unwatchedNotFound` for an id that the organization never had. */
const addressesOf = async (org: number, ids: readonly number[]): Promise<string[]> => {
  const [directory, rows] = await Promise.all([
    unwatched.directory(org),
    unwatched.getMany(org, [...new Set(ids)]),
  ]);
  const blocks = new Set(directory.map(({ block }) => block));
  if (!ids.every((id) => blocks.has(blockOf(id)))) throw new Refusal("unwatchedNotFound");
  return rows.flatMap((row) => row?.email ?? []);
};

/** Each may be of another block, whose counter the transaction changes too. */
const rowsAtOnce = 45;

/**
 * Changes the rows with these ids, in one transaction after another. `logged`: the writes that log how many rows one of them
 * changes, and how many were changed before it.
 */
const change = async (
  org: number,
  ids: readonly number[],
  changeOf: (row: Unwatched) => MemberWrite | undefined,
  logged: (before: number, changed: number) => Write[] = () => [],
): Promise<void> => {
  let done = 0;
  for (const some of chunk([...new Set(ids)], rowsAtOnce)) {
    done += await withOptimisticRetry(async () => {
      const changes = (await unwatched.getMany(org, some)).flatMap((row) => (row && changeOf(row)) ?? []);
      if (changes.length > 0)
        await table.transact([...unwatched.writes(org, changes), ...logged(done, changes.length)]);
      return changes.length;
    });
  }
};
