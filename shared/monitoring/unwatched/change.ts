/** Watching and ignoring breached addresses that nobody watches. */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import type { Quote } from "../../access/billing/billing-schema.ts";
import { chunk } from "../../aws/table/chunk.ts";
import type { Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { importAll } from "../imports/commit.ts";
import { monitoredOf, plan } from "../imports/plan.ts";
import { bucketIn, type Entry, placesOf, writesOf } from "./record.ts";

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
    await change(org, ids, (entry, address) => (monitored.has(address) ? [] : [entry]));
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
  const to = ignored ? "ignored" : "open";
  const logged = (before: number, changed: number): Write[] => {
    const all = before + changed;
    const summary = `${ignored ? "Ignored" : "Stopped ignoring"} ${all} unwatched ${all === 1 ? "address" : "addresses"}`;
    const action = ignored ? "unwatched.ignored" : "unwatched.restored";
    return activity.counting(org, slot, before > 0, { action, summary, actor });
  };
  const changed = (entry: Entry): Entry[] => {
    if (entry.state === to || !isListed(entry)) return [entry];
    const { alias, number } = entry;
    return [{ alias, number, state: to }];
  };
  await change(org, ids, changed, logged);
};

const planOf = async (org: number, addresses: readonly string[]) => {
  const planned = await plan(
    org,
    addresses.map((email) => ({ email })),
  );
  if (planned.emails.some(({ status }) => status === "invalid")) throw new Refusal("domainNotVerified");
  return planned;
};

const isListed = ({ state }: Entry): boolean => state === "open" || state === "ignored";

type Places = ReturnType<typeof placesOf>;

/** Undefined where no address was ever found. */
const readPlaces = async (org: number, places: Places) => {
  const rows = await table.getMany<Key>(
    places.map(({ domainId, bucket }) => keys.unwatched(org, domainId, bucket)),
  );
  return places.map(({ numbers }, at) => {
    const row = rows[at];
    return row && { before: bucketIn(row), numbers };
  });
};

/** The addresses with these ids that are still unwatched. Refuses `unwatchedNotFound` for an id that never was one. */
const addressesOf = async (org: number, ids: readonly number[]): Promise<string[]> =>
  (await readPlaces(org, placesOf(ids))).flatMap((place) => {
    if (place === undefined || Math.max(...place.numbers) >= place.before.next)
      throw new Refusal("unwatchedNotFound");
    const { before, numbers } = place;
    return before.entries
      .filter((entry) => numbers.has(entry.number) && isListed(entry))
      .map(({ alias }) => `${alias}@${before.domain}`);
  });

/** A transaction takes 4 MB, and a bucket at most 300 KB. */
const bucketsAtOnce = 10;

/**
 * Changes the entries with these ids, in one transaction after another. `logged`: the writes that log how many entries one of them
 * changes, and how many were changed before it.
 */
const change = async (
  org: number,
  ids: readonly number[],
  changed: (entry: Entry, address: string) => Entry[],
  logged: (before: number, changed: number) => Write[] = () => [],
): Promise<void> => {
  let done = 0;
  for (const [domainId, places] of Map.groupBy(placesOf(ids), (place) => place.domainId)) {
    for (const some of chunk(places, bucketsAtOnce)) {
      done += await withOptimisticRetry(async () => {
        let count = 0;
        const changes = (await readPlaces(org, some)).flatMap((place) => {
          if (place === undefined) return [];
          const { before, numbers } = place;
          const entries = before.entries.flatMap((entry) => {
            if (!numbers.has(entry.number)) return [entry];
            const after = changed(entry, `${entry.alias}@${before.domain}`);
            if (after[0] !== entry) count++;
            return after;
          });
          return [{ before, after: { next: before.next, entries } }];
        });
        if (count > 0) await table.transact([...writesOf(org, domainId, changes), ...logged(done, count)]);
        return count;
      });
    }
  }
};
