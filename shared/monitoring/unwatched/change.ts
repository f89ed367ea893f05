/** Watching, ignoring and erasing breached addresses that nobody watches. */
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import type { Quote } from "../../access/billing/billing-schema.ts";
import { exists, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { aliasOf, baseOf } from "../../contract/address.ts";
import { Refusal } from "../../contract/errors.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import * as domains from "../domains/domain.ts";
import { importAll } from "../imports/commit.ts";
import { monitoredOf, plan } from "../imports/plan.ts";
import { byId, type Filter, rowsOf } from "./filter.ts";
import { hashOf, idOf, type Kept, type Listed, listedIn } from "./record.ts";
import * as store from "./store.ts";

/** What importing the addresses would cost now. Refuses `unwatchedNotFound`, `domainNotVerified`. */
export const quote = async (org: number, ids: readonly number[]): Promise<Quote> =>
  (await planOf(org, addressesOf(await find(org, ids)))).quote;

/**
 * Watches addresses as an import does. Skips those that are watched by now or have left the list. Refuses what `quote`
 * refuses, before anything is done.
 */
export const watch = async (
  org: number,
  ids: readonly number[],
  actor: Actor,
): Promise<{ addedCount: number; disabledCount: number }> => {
  const chosen = await find(org, ids);
  const addresses = addressesOf(chosen);
  const { emails } = await planOf(org, addresses);
  const rows = emails.flatMap(({ email, domainId, status }) =>
    status === "will_import" && domainId !== null ? { email, domainId } : [],
  );
  const { imported, disabled } =
    rows.length > 0 ? await importAll(org, rows, actor) : { imported: 0, disabled: 0 };
  const takeOff = async (): Promise<void> => {
    const monitored = await monitoredOf(org, addresses);
    for (const { domainId, name, aliases } of chosen) {
      const added = aliases.filter((alias) => monitored.has(`${alias}@${name}`));
      await change(org, domainId, (kept) => {
        const watched = [...new Set([...kept.watched, ...added])];
        const isLeft = ({ alias }: { alias: string }): boolean => !added.includes(alias);
        return { next: { ...kept, ignored: kept.ignored.filter(isLeft), watched }, count: added.length };
      });
    }
  };
  // They are watched even if this fails: the next scan takes them off the list.
  await takeOff().catch(() => {});
  return { addedCount: imported, disabledCount: disabled };
};

/** Addresses by their ids, or all that match a filter when they are changed. */
type Meant = { ids: readonly number[] } | { filter: Filter };

/**
 * Ignores addresses, or stops ignoring them, all at the time `at`. Skips those that are watched by now or have left
 * the list. Refuses `unwatchedNotFound` before anything is done.
 */
export const ignore = async (
  org: number,
  meant: Meant,
  ignored: boolean,
  actor: Actor,
): Promise<{ changed: number; at: string }> => {
  const chosen = "ids" in meant ? byIds(await find(org, meant.ids)) : await byFilter(org, meant.filter);
  const slot = await activity.slot(org);
  const at = slot.createdAt;
  let done = 0;
  for (const { domainId, isMeant } of chosen) {
    const changed = (kept: Kept) => {
      const some = isMeant(kept).filter((each) => each.ignored !== ignored);
      const meant = new Set(some.map(({ alias }) => alias));
      const others = kept.ignored.filter(({ alias }) => !meant.has(alias));
      const added = some.map(({ alias, firstSeenAt, breachIds, lastNewAt, isSevere }) => ({
        ...{ alias, firstSeenAt, breachIds, lastNewAt, isSevere },
        ignoredAt: at,
      }));
      return { next: { ...kept, ignored: ignored ? [...others, ...added] : others }, count: some.length };
    };
    done += await change(org, domainId, changed, (count) => {
      const all = done + count;
      const many = `${all} unwatched ${all === 1 ? "address" : "addresses"}`;
      const summary = `${ignored ? "Ignored" : "Stopped ignoring"} ${many}`;
      const action = ignored ? "unwatched.ignored" : "unwatched.restored";
      return activity.counting(org, slot, done > 0, { action, summary, actor });
    });
  }
  return { changed: done, at };
};

/** A domain, and which of its addresses are meant. */
type MeantOf = { domainId: number; isMeant: (kept: Kept) => Listed[] };

const byIds = (chosen: readonly Chosen[]): MeantOf[] =>
  chosen.map(({ domainId, aliases }) => {
    const meant = new Set(aliases);
    return { domainId, isMeant: (kept) => listedIn(kept).filter(({ alias }) => meant.has(alias)) };
  });

const byFilter = async (org: number, filter: Filter): Promise<MeantOf[]> => {
  const [allDomains, roots, names] = await Promise.all([
    domains.list(org),
    store.roots(org),
    breachDetails.version().then(breachDetails.names),
  ]);
  const breaches = byId(names);
  const kept = new Set(roots.map(({ domainId }) => domainId));
  return allDomains
    .filter(({ id }) => kept.has(id) && (filter.domainId === undefined || filter.domainId === id))
    .map((domain) => ({
      domainId: domain.id,
      isMeant: (kept) => rowsOf(domain, kept, breaches, filter),
    }));
};

/** Forgets an address with its sub-addresses, watched or not, so that no answer brings them back into the list. */
export const erase = async (org: number, domainId: number, address: string): Promise<void> => {
  const alias = aliasOf(address).toLowerCase();
  const add = { erased: new Set([hashOf(alias)]) };
  await table.attempt(table.update(keys.domain(org, domainId), { add, if: exists }));
  const isLeft = (each: string): boolean => !isOf(alias, each);
  await change(org, domainId, ({ breached, ignored, watched, left }) => ({
    next: {
      breached: breached.filter((each) => isLeft(each.alias)),
      ignored: ignored.filter((each) => isLeft(each.alias)),
      watched: watched.filter(isLeft),
      left,
    },
    count: [...breached, ...ignored].some((each) => !isLeft(each.alias)) || !watched.every(isLeft) ? 1 : 0,
  }));
};

/** Whether anything is kept of an address or its sub-addresses. */
export const isKept = async (org: number, domainId: number, address: string): Promise<boolean> => {
  const alias = aliasOf(address).toLowerCase();
  const { breached, ignored, watched } = (await store.read(org, domainId)).kept;
  return [...[...breached, ...ignored].map((each) => each.alias), ...watched].some((each) =>
    isOf(alias, each),
  );
};

const isOf = (alias: string, each: string): boolean => each === alias || baseOf(each) === alias;

const planOf = async (org: number, addresses: readonly string[]) => {
  const planned = await plan(
    org,
    addresses.map((email) => ({ email })),
  );
  if (planned.emails.some(({ status }) => status === "invalid")) throw new Refusal("domainNotVerified");
  return planned;
};

/** Aliases of a domain. */
type Chosen = { domainId: number; name: string; aliases: string[] };

const addressesOf = (chosen: readonly Chosen[]): string[] =>
  chosen.flatMap(({ name, aliases }) => aliases.map((alias) => `${alias}@${name}`));

/**
 * The addresses with these ids, without those that were watched from the list or have left it. Refuses
 * `unwatchedNotFound` if one of the ids was never there.
 */
const find = async (org: number, ids: readonly number[]): Promise<Chosen[]> => {
  const [allDomains, roots] = await Promise.all([domains.list(org), store.roots(org)]);
  const all = await Promise.all(roots.map((root) => store.read(org, root.domainId, root)));
  const left = new Set(ids);
  const chosen = all.map(({ domainId, kept }): Chosen => {
    const { name = "" } = allDomains.find(({ id }) => id === domainId) ?? {};
    const watched = new Set(kept.watched);
    const meant = kept.breached.filter(({ alias }) => left.delete(idOf(domainId, alias)));
    for (const id of kept.left) left.delete(id);
    const aliases = meant.map(({ alias }) => alias).filter((alias) => !watched.has(alias));
    return { domainId, name, aliases };
  });
  if (left.size > 0) throw new Refusal("unwatchedNotFound");
  return chosen.filter(({ aliases }) => aliases.length > 0);
};

/**
 * Changes the stored unwatched addresses of a domain, and logs it. `count`: how many addresses change; if
 * none does, nothing is written.
 */
const change = (
  org: number,
  domainId: number,
  changed: (kept: Kept) => { next: Kept; count: number },
  logged: (count: number) => Write[] = () => [],
): Promise<number> =>
  withOptimisticRetry(async () => {
    const stored = await store.read(org, domainId);
    const { next, count } = changed(stored.kept);
    if (count > 0) await store.write(org, stored, next, { also: logged(count) });
    return count;
  });
