/** Compares what HIBP answered about domains with their unwatched addresses. An answer without news reads the addresses and writes nothing. */
import { condition, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import type { Domain } from "../domains/domain-row.ts";
import * as breachDetails from "../hibp/breach-details.ts";
import { importedAddress } from "../imports/import-schema.ts";
import {
  type Bucket,
  baseOf,
  bucketOf,
  type Entry,
  emptyBucket,
  type Found,
  hashOf,
  read,
  writesOf,
} from "./record.ts";

/** A domain as the scan has claimed it, and the names of the breaches of each alias. */
type Answer = { domain: Domain; breachNames: ReadonlyMap<string, readonly string[]> };

/** `watched`: all monitored addresses of the domains, disabled ones included. `breachIds`: the ids of all names, by name. */
export type Known = { watched: ReadonlySet<string>; breachIds: ReadonlyMap<string, number> };

/**
 * Updates the unwatched addresses of domains by the answers about them. It may be interrupted and repeated. Does nothing for a domain that the scan has lost.
 */
export const compareAll = async (org: number, answers: readonly Answer[], known: Known): Promise<void> => {
  if (answers.length === 0) return;
  const counts = await table.getMany(answers.map(({ domain }) => keys.unwatchedCounts(org, domain.id)));
  let levels: Levels | undefined;
  for (const [index, answer] of answers.entries()) {
    const aliases = [...answer.breachNames.keys()]
      .filter((alias) => !isWatched(alias, answer, known) && answer.breachNames.get(alias)?.length !== 0)
      .sort();
    if (aliases.length === 0 && counts[index] === undefined) continue;
    levels ??= await readLevels();
    await compare(org, answer, aliases, { ...known, levels });
  }
};

const readLevels = async (): Promise<Levels> =>
  new Map([...(await breachDetails.readNames()).values()].map(({ id, level }) => [id, level]));

const isWatched = (alias: string, { domain }: Answer, { watched }: Known): boolean =>
  watched.has(`${alias}@${domain.name}`);

type Levels = ReadonlyMap<number, number>;
type Wanted = { alias: string; state: "open" | "sub"; found: Omit<Found, "firstSeenAt"> };

/**
 * More addresses of one bucket, about 300 KB, are left out: a row takes 400 KB. Only sub-addresses of a single address, which share a
 * bucket, become so many.
 */
const maximumNamed = 5_000;

const compare = async (
  org: number,
  answer: Answer,
  aliases: readonly string[],
  known: Known & { levels: Levels },
): Promise<void> => {
  const { domain } = answer;
  const wanted = Map.groupBy(wantedOf(answer, aliases, known), ({ alias }) => bucketOf(alias));
  const isStillClaimed = claimOf(org, domain);
  // Sixteen buckets at a time stay within what a transaction takes, also of the largest answer.
  for (const digit of "0123456789abcdef") {
    const isOver = await withOptimisticRetry(async () => {
      const stored = new Map((await read(org, domain.id, digit)).map((each) => [each.bucket, each]));
      const changes = Array.from({ length: 16 }, (_, at) => Number.parseInt(digit, 16) * 16 + at).flatMap(
        (bucket) => {
          const before = stored.get(bucket) ?? emptyBucket(bucket, domain.name);
          const named = wanted.get(bucket)?.slice(0, maximumNamed) ?? [];
          const after = merged(before, named, answer, known);
          return JSON.stringify(after.entries) === JSON.stringify(before.entries) ? [] : { before, after };
        },
      );
      if (changes.length === 0) return false;
      const writes = [isStillClaimed, ...writesOf(org, domain.id, changes, domain.planAt)];
      const change = await table.attempt(table.transact(writes));
      if (change.written) return false;
      if (change.failed.some(({ index }) => index === 0)) return true;
      throw new table.TransactionRefused(change.failed);
    });
    if (isOver) return;
  }
};

/** That the answer is the latest, and that the domain is neither unverified nor being removed. */
const claimOf = (org: number, { id, plannedByScan, planAt = "" }: Domain): Write => ({
  check: keys.domain(org, id),
  if: condition(
    "#verified = :verified AND #plannedByScan = :scan AND #planState = :fetching AND #planAt = :planAt",
    { verified: true, scan: plannedByScan, fetching: "fetching", planAt },
  ),
});

/** What the list must hold, in the order of `aliases`, without addresses that an import would refuse: nobody could watch them. */
const wantedOf = (
  answer: Answer,
  aliases: readonly string[],
  { breachIds, levels, ...known }: Known & { levels: Levels },
): Wanted[] =>
  aliases.flatMap((alias) => {
    const address = `${alias}@${answer.domain.name}`;
    if (importedAddress.safeParse(address).data !== address) return [];
    const names = answer.breachNames.get(alias) ?? [];
    const ids = names.map((name) => breachIds.get(name)).filter((id) => id !== undefined);
    const levelOf = (id: number): number => levels.get(id) ?? 1;
    const worst = ids.sort((one, other) => levelOf(other) - levelOf(one) || other - one).slice(0, 5);
    const found = { level: levelOf(worst[0] ?? 0), breachCount: ids.length, worst };
    const isSub = baseOf(alias) !== alias && isWatched(baseOf(alias), answer, { breachIds, ...known });
    return [{ alias, state: isSub ? "sub" : "open", found }];
  });

/** A bucket as it must be. An ignored address stays ignored until somebody watches it, even if HIBP no longer names it. */
const merged = (
  { entries, next: firstNew }: Bucket,
  wanted: readonly Wanted[],
  answer: Answer,
  known: Known,
): Pick<Bucket, "next" | "entries"> => {
  const stored = new Map(entries.map((entry) => [entry.alias, entry]));
  const erased = entries.filter(({ state }) => state === "erased").map(({ alias }) => alias);
  let next = firstNew;
  const named = wanted.flatMap(({ alias, state, found }): Entry[] => {
    if (erased.length > 0 && [alias, baseOf(alias)].some((each) => erased.includes(hashOf(each)))) return [];
    const before = stored.get(alias);
    stored.delete(alias);
    if (before?.state === "ignored" && state === "open") return [before];
    const firstSeenAt = before?.found?.firstSeenAt ?? answer.domain.planAt ?? "";
    return [{ alias, number: before?.number ?? next++, state, found: { ...found, firstSeenAt } }];
  });
  const others = [...stored.values()].filter(
    ({ alias, state }) => state === "erased" || (state === "ignored" && !isWatched(alias, answer, known)),
  );
  return { next, entries: [...named, ...others].sort((one, other) => one.number - other.number) };
};
