/**
 * Keeps HIBP's answers about addresses that nobody watches. A scan does so after it has sent its findings,
 * and only if an answer says something new (scanning/keep-unwatched.ts).
 */
import { isDeepStrictEqual } from "node:util";
import { chunk } from "../../aws/table/chunk.ts";
import { condition, exists } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { baseOf } from "../../contract/address.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import { levelOf } from "../../hibp/severity.ts";
import * as domains from "../domains/domain.ts";
import type { Domain } from "../domains/domain-row.ts";
import { type Email, emails, type SubAddress } from "../emails/record.ts";
import { importedAddress } from "../imports/import-schema.ts";
import { monitoredOf } from "../imports/plan.ts";
import { added as addedOfScan, type OfScan } from "./of-scan.ts";
import { type Breached, hashOf, idOf, type Kept } from "./record.ts";
import * as store from "./store.ts";

/** A domain as the scan has claimed it, and the names of the breaches of each alias. */
type Answer = { domain: Domain; breachNames: ReadonlyMap<string, readonly string[]> };

/** `watched`: all e-mails of the domain, disabled ones included, by address. `breachIds`: by name. */
type Known = {
  watched: ReadonlyMap<string, Pick<Email, "id" | "subAddresses">>;
  breachIds: ReadonlyMap<string, number>;
};

type Named = Pick<Breached, "alias" | "breachIds">;

/** What is to be kept of an answer. `subAddresses`: by the e-mail whose row is to name others. */
export type News = {
  domain: Domain;
  named: readonly Named[];
  subAddresses: ReadonlyMap<number, SubAddress[]>;
};

/** What an answer says that is not kept. Undefined: nothing. */
export const newsIn = (answer: Answer, known: Known, root: store.Root | undefined): News | undefined => {
  const { named, ofBases } = namedIn(answer, known);
  const subAddresses = changedSubAddresses(ofBases, known);
  const isKept =
    root === undefined ? named.length === 0 : root.watched === 0 && root.hash === store.hashOf(named);
  return isKept && subAddresses.size === 0 ? undefined : { domain: answer.domain, named, subAddresses };
};

/**
 * The addresses that nobody watches, and by the address of an e-mail its sub-addresses. Leaves out erased
 * addresses, and those that an import would refuse, since nobody could watch them.
 */
const namedIn = (
  { domain, breachNames }: Answer,
  { watched, breachIds }: Known,
): { named: Named[]; ofBases: Map<string, SubAddress[]> } => {
  const named: Named[] = [];
  const ofBases = new Map<string, SubAddress[]>();
  const isErased = (alias: string): boolean => domain.erased?.has(hashOf(alias)) === true;
  for (const alias of [...breachNames.keys()].sort()) {
    const email = `${alias}@${domain.name}`;
    const base = `${baseOf(alias)}@${domain.name}`;
    const ids = breachNames.get(alias)?.map((name) => breachIds.get(name)) ?? [];
    const ofAlias = ids.filter((id) => id !== undefined).sort((one, other) => one - other);
    if (ofAlias.length === 0 || watched.has(email) || isErased(alias) || isErased(baseOf(alias))) continue;
    if (importedAddress.safeParse(email).data !== email) continue;
    if (!watched.has(base)) named.push({ alias, breachIds: ofAlias });
    else ofBases.set(base, [...(ofBases.get(base) ?? []), { email, breachCount: ofAlias.length }]);
  }
  return { named, ofBases };
};

/** More sub-addresses of one address are left out, the least breached first: they share its e-mail's row. */
const maximumSubAddresses = 500;

/** The e-mails whose rows name other sub-addresses than the answer, with these, the most breached first. */
const changedSubAddresses = (
  ofBases: ReadonlyMap<string, SubAddress[]>,
  { watched }: Known,
): Map<number, SubAddress[]> => {
  const changed = new Map<number, SubAddress[]>();
  for (const [address, { id, subAddresses: before = [] }] of watched) {
    const named = (ofBases.get(address) ?? [])
      .sort((one, other) => other.breachCount - one.breachCount)
      .slice(0, maximumSubAddresses);
    if (!isDeepStrictEqual(before, named)) changed.set(id, named);
  }
  return changed;
};

/** A page of the list that is older than so many changes names addresses that nobody knows. */
const maximumLeft = 2_000;

/** Rows of e-mails that are written at the same time. */
const concurrency = 25;

/**
 * When a watched address was first found in each breach, in milliseconds since 1970. HIBP's naming of an address for
 * the first time is no news where that was before the answer before: mostly it was watched, and removed.
 */
type FirstFound = () => Promise<ReadonlyMap<number, number>>;

/** Keeps what an answer says, once. Does nothing if the scan has lost the domain. May be interrupted and repeated. */
export const keep = async (
  org: number,
  scanId: number,
  { domain, named, subAddresses }: News,
  firstFound: FirstFound = async () => new Map(),
): Promise<void> => {
  const { id: domainId, name, planAt = "" } = domain;
  for (const some of chunk([...subAddresses], concurrency)) {
    // Not written: the e-mail was removed meanwhile.
    const write = ([id, of]: [number, SubAddress[]]) =>
      table.attempt(table.update(emails.key(org, id), { set: { subAddresses: of }, if: exists }));
    await Promise.all(some.map(write));
  }
  await withOptimisticRetry(async () => {
    const [row, stored] = await Promise.all([domains.get(org, domainId), store.read(org, domainId)]);
    if (row?.unwatchedOfScan !== scanId || row.planState !== "checked") return;
    const { kept, root } = stored;
    const isFirst = root === undefined && row.checkedByScan === 0;
    const checkedAt = row.checkedAt === null ? 0 : Date.parse(row.checkedAt);
    const changes = changesIn(kept, named);
    const hasStrangers = changes.some(({ before, added }) => before === undefined && added.length > 0);
    const found = hasStrangers && !isFirst ? await firstFound() : new Map<number, number>();
    const isKnownHere = (breachId: number): boolean => (found.get(breachId) ?? Infinity) <= checkedAt;
    const grades = await breachDetails.grades(changes.flatMap(({ added }) => added));
    const levelFor = (breachId: number): number => grades.get(breachId)?.level ?? levelOf("low");
    const breached = changes.map((change) => merged(change, { planAt, isFirst, isKnownHere, levelFor }));

    const isNamed = new Set(named.map(({ alias }) => alias));
    const left = kept.breached
      .filter(({ alias }) => !isNamed.has(alias))
      .map(({ alias }) => idOf(domainId, alias));
    // Addresses that somebody began to watch from the list during the scan, and that still are watched.
    const added = kept.watched.filter((alias) => isNamed.has(alias)).map((alias) => `${alias}@${name}`);
    const monitored = await monitoredOf(org, added);
    const watched = kept.watched.filter((alias) => monitored.has(`${alias}@${name}`));
    const isSame = root?.hash === store.hashOf(named);
    const worse = new Set(breached.filter(({ level }) => level >= levelOf("high")).map(({ alias }) => alias));
    // They were ignored for what was known of them.
    const ignored = kept.ignored.filter(({ alias }) => isFirst || !worse.has(alias));
    const next = {
      breached: isSame ? kept.breached : breached.map(({ level: _, news: __, ...each }) => each),
      ignored: ignored.length === kept.ignored.length ? kept.ignored : ignored,
      watched: watched.length === kept.watched.length ? kept.watched : watched,
      left: isSame ? kept.left : [...left, ...kept.left].slice(0, maximumLeft),
    };
    const isHeld = condition("#unwatchedOfScan = :scan AND #planState = :checked", {
      scan: scanId,
      checked: "checked",
    });
    const key = keys.domain(org, domainId);
    await store.write(org, stored, next, {
      guard: { check: key, if: isHeld },
      also: [
        { update: key, remove: ["unwatchedOfScan"], if: isHeld },
        ...addedOfScan(org, scanId, foundIn(breached, next, isFirst), levelFor),
      ],
    });
  });
};

/** What an answer changes of an address. `before`: what was known of it; `added`: breaches that it was not known in. */
type AddressChange = { named: Named; before: Breached | undefined; added: readonly number[] };

const changesIn = ({ breached, ignored }: Kept, named: readonly Named[]): AddressChange[] => {
  const ofIgnored = new Map(ignored.map((each) => [each.alias, each]));
  const ofBreached = new Map(breached.map((each) => [each.alias, each]));
  return named.map((each) => {
    const { alias, breachIds } = each;
    const [last, whenIgnored] = [ofBreached.get(alias), ofIgnored.get(alias)];
    const known = new Set([...(last?.breachIds ?? []), ...(whenIgnored?.breachIds ?? [])]);
    return { named: each, before: last ?? whenIgnored, added: breachIds.filter((id) => !known.has(id)) };
  });
};

/** An address of the new list. `news`: the new breaches that are told; `level`: of the worst of them, or 0. */
type Merged = Breached & { news: readonly number[]; level: number };

const merged = (
  { named, before, added }: AddressChange,
  {
    planAt,
    isFirst,
    isKnownHere,
    levelFor,
  }: {
    planAt: string;
    isFirst: boolean;
    isKnownHere: (breachId: number) => boolean;
    levelFor: (breachId: number) => number;
  },
): Merged => {
  if (added.length === 0 && before !== undefined) {
    const { firstSeenAt, lastNewAt, isSevere } = before;
    return { ...named, firstSeenAt, lastNewAt, isSevere, news: [], level: 0 };
  }
  const news = added.filter((id) => before !== undefined || !isKnownHere(id));
  const level = Math.max(0, ...news.map(levelFor));
  const isSevere = !isFirst && level >= levelOf("high");
  const { firstSeenAt = planAt } = before ?? {};
  return { ...named, firstSeenAt, lastNewAt: planAt, isSevere, news, level };
};

/** What a scan has found of the addresses that people see and have not ignored. */
const foundIn = (breached: readonly Merged[], next: Kept, isFirst: boolean): OfScan => {
  const found: OfScan = { news: new Map(), first: new Map(), byBreach: new Map() };
  const hidden = new Set([...next.ignored.map(({ alias }) => alias), ...next.watched]);
  const add = (counts: Map<number, number>, name: number): unknown =>
    counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const { alias, news, level } of breached) {
    if (level === 0 || hidden.has(alias)) continue;
    add(isFirst ? found.first : found.news, level);
    if (!isFirst) for (const id of news) add(found.byBreach, id);
  }
  return found;
};
