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
import { type Bucket, bucketIn, type Entry, idOf, placeOf, writesOf } from "./record.ts";

/** What importing the addresses would cost now. Refuses `unwatchedNotFound`, `domainNotVerified`. */
export const quote = async (org: number, ids: readonly number[]): Promise<Quote> =>
  (await planOf(org, await addressesOf(org, ids))).quote;

/**
 * Watches addresses, as an import does; those that are watched by now, or have left the list, are skipped. Refuses as `quote`, before
 * anything is done. Whatever it leaves when it is cut off, the next scan takes off the list.
 */
export const watch = async (
  org: number,
  ids: readonly number[],
  actor: Actor,
): Promise<{ addedCount: number; disabledCount: number }> => {
  const addresses = await addressesOf(org, ids);
  const { emails } = await planOf(org, addresses);
  const rows = emails.flatMap(({ email, domainId, status }) =>
    status === "will_import" && domainId !== null ? { email, domainId, ownerName: null } : [],
  );
  const { imported, disabled } =
    rows.length > 0 ? await importAll(org, rows, actor) : { imported: 0, disabled: 0 };
  const monitored = await monitoredOf(org, addresses);
  await change(org, ids, (entry, address) => (monitored.has(address) ? [] : [entry]));
  return { addedCount: imported, disabledCount: disabled };
};

/**
 * Ignores addresses, of which nothing but the address is kept then, or ends that: the next scan says again what is known of them.
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
  let before = 0;
  const entryWrites = (changed: number): Write[] => {
    const all = before + changed;
    const summary = `${ignored ? "Ignored" : "Stopped ignoring"} ${all} unwatched ${all === 1 ? "address" : "addresses"}`;
    const action = ignored ? "unwatched.ignored" : "unwatched.restored";
    return activity.counting(org, slot, before > 0, { action, summary, actor });
  };
  const changeEntry = (entry: Entry): Entry[] => {
    if (entry.state === to || !isListed(entry)) return [entry];
    const { alias, number } = entry;
    return [{ alias, number, state: to }];
  };
  await change(org, ids, changeEntry, {
    agrees: ignored,
    entryWrites,
    done: (changed) => (before += changed),
  });
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

type Place = { domainId: number; bucket: number };

const placesOf = (ids: readonly number[]): Place[] => [
  ...new Map(
    ids.map(placeOf).map(({ domainId, bucket }) => [`${domainId} ${bucket}`, { domainId, bucket }]),
  ).values(),
];

const readPlaces = async (org: number, places: readonly Place[]): Promise<(Bucket | undefined)[]> => {
  const rows = await table.getMany<Key>(
    places.map(({ domainId, bucket }) => keys.unwatched(org, domainId, bucket)),
  );
  return rows.map((row) => row && bucketIn(row));
};

/** The addresses with these ids that are still unwatched. Refuses `unwatchedNotFound` for an id that never was one. */
const addressesOf = async (org: number, ids: readonly number[]): Promise<string[]> => {
  const places = placesOf(ids);
  const rows = await readPlaces(org, places);
  const byPlace = new Map(places.map((place, at) => [`${place.domainId} ${place.bucket}`, rows[at]]));
  return [...new Set(ids)].flatMap((id) => {
    const { domainId, bucket, number } = placeOf(id);
    const row = byPlace.get(`${domainId} ${bucket}`);
    if (row === undefined || number >= row.next) throw new Refusal("unwatchedNotFound");
    const entry = row.entries.find((each) => each.number === number);
    return entry && isListed(entry) ? [`${entry.alias}@${row.domain}`] : [];
  });
};

/** A transaction takes 4 MB, and a bucket of the largest domain that HIBP can name 200 KB. */
const bucketsAtOnce = 10;

/** Changes the entries with these ids, in one transaction after another. `entryWrites`: logs how many entries one of them changes. */
const change = async (
  org: number,
  ids: readonly number[],
  changed: (entry: Entry, address: string) => Entry[],
  { agrees = false, entryWrites = () => [], done = () => {} }: Logged = {},
): Promise<void> => {
  const wanted = new Set(ids);
  const byDomain = Map.groupBy(placesOf(ids), ({ domainId }) => domainId);
  for (const [domainId, places] of byDomain) {
    for (const some of chunk(places, bucketsAtOnce)) {
      const count = await withOptimisticRetry(async () => {
        let count = 0;
        const changes = (await readPlaces(org, some)).flatMap((before) => {
          if (before === undefined) return [];
          const entries = before.entries.flatMap((entry) => {
            if (!wanted.has(idOf(domainId, before.bucket, entry.number))) return [entry];
            const after = changed(entry, `${entry.alias}@${before.domain}`);
            if (after[0] !== entry) count++;
            return after;
          });
          return [{ before, after: { next: before.next, entries } }];
        });
        if (count > 0)
          await table.transact([...writesOf(org, domainId, changes, { agrees }), ...entryWrites(count)]);
        return count;
      });
      done(count);
    }
  }
};

type Logged = {
  agrees?: boolean;
  entryWrites?: (changed: number) => Write[];
  done?: (changed: number) => void;
};
