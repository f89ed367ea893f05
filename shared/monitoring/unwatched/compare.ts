/** Compares what HIBP answered about domains with their unwatched addresses. An answer without news reads the addresses and writes nothing. */
import { isDeepStrictEqual } from "node:util";
import { inTransactions } from "../../aws/table/budget.ts";
import { condition, exists, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { reserve } from "../../lists/blocks.ts";
import type { MemberWrite } from "../../lists/member-writes.ts";
import type { Domain } from "../domains/domain-row.ts";
import { type Email, emails, type SubAddress } from "../emails/record.ts";
import * as breachDetails from "../hibp/breach-details.ts";
import { importedAddress } from "../imports/import-schema.ts";
import {
  aliasOf,
  baseOf,
  type Found,
  hashOf,
  read,
  type Unwatched,
  type UnwatchedGroup,
  unwatched,
} from "./record.ts";

/** A domain as the scan has claimed it, and the names of the breaches of each alias. */
type Answer = { domain: Domain; breachNames: ReadonlyMap<string, readonly string[]> };

/** `watched`: all monitored e-mails of the domains, disabled ones included, by address. `breachIds`: the ids of all names, by name. */
export type Known = {
  watched: ReadonlyMap<string, Pick<Email, "id" | "subAddresses">>;
  breachIds: ReadonlyMap<string, number>;
};

/** Updates the unwatched addresses of domains by the answers about them. It may be interrupted and repeated. Does nothing for a domain that the scan has lost. */
export const compareAll = async (org: number, answers: readonly Answer[], known: Known): Promise<void> => {
  if (answers.length === 0) return;
  const isNews = ({ domain, breachNames }: Answer): boolean =>
    [...breachNames.keys()].some((alias) => !known.watched.has(`${alias}@${domain.name}`));
  const names = answers.some(isNews)
    ? await breachDetails.readNames()
    : new Map<string, breachDetails.NameRow>();
  const levels = new Map([...names.values()].map(({ id, level }) => [id, level]));
  for (const answer of answers) {
    const named = namedIn(answer, known, levels);
    await withOptimisticRetry(() => compare(org, answer.domain, named, known));
    await noteSubAddresses(org, answer.domain, named, known);
  }
};

/** What an answer says of an address that nobody watches. `base`: the watched address that it is a sub-address of. */
type Named = Omit<Found, "firstSeenAt"> & { email: string; level: number; base: string | undefined };

/** Without addresses that an import would refuse, since nobody could watch them, and without erased ones. */
const namedIn = (
  { domain, breachNames }: Answer,
  { watched, breachIds }: Known,
  levels: ReadonlyMap<number, number>,
): Named[] => {
  const levelOf = (id: number): number => levels.get(id) ?? 1;
  const isErased = (alias: string): boolean => domain.erased?.has(hashOf(alias)) === true;
  return [...breachNames].sort().flatMap(([alias, names]) => {
    const email = `${alias}@${domain.name}`;
    const base = `${baseOf(alias)}@${domain.name}`;
    if (names.length === 0 || watched.has(email) || isErased(alias) || isErased(baseOf(alias))) return [];
    if (importedAddress.safeParse(email).data !== email) return [];
    const ids = names.map((name) => breachIds.get(name)).filter((id) => id !== undefined);
    const worst = ids.sort((one, other) => levelOf(other) - levelOf(one) || other - one).slice(0, 5);
    const found = { level: levelOf(worst[0] ?? 0), breachCount: ids.length, worst };
    return [{ email, base: watched.has(base) ? base : undefined, ...found }];
  });
};

const compare = async (
  org: number,
  domain: Domain,
  named: readonly Named[],
  { watched }: Known,
): Promise<void> => {
  const isWatched = (address: string): boolean =>
    watched.has(address) || watched.has(`${baseOf(aliasOf(address))}@${domain.name}`);
  const stored = await read(org, domain.id);
  const listed = named.filter(({ base }) => base === undefined);
  const changes = await listChanges(org, domain, stored, listed, isWatched);
  const claim = claimOf(org, domain);
  for (const some of inTransactions(changes, (each) => unwatched.writes(org, [each]), [claim])) {
    const change = await table.attempt(table.transact([claim, ...unwatched.writes(org, some)]));
    if (change.written) continue;
    if (change.failed.some(({ index }) => index === 0)) return;
    throw new table.TransactionRefused(change.failed);
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

/** Makes the list hold what is named. An ignored address stays ignored until somebody watches it, even if HIBP no longer names it. */
const listChanges = async (
  org: number,
  { id: domainId, planAt = "" }: Domain,
  rows: readonly Unwatched[],
  named: readonly Named[],
  isWatched: (address: string) => boolean,
): Promise<MemberWrite[]> => {
  const stored = new Map(rows.map((row) => [row.email, row]));
  const added = named.filter(({ email }) => !stored.has(email));
  const ids = await reserve(org, "UNWATCHED", added.length);
  const changes: MemberWrite[] = ids.map((id, index) => {
    const { email, level, breachCount, worst } = added[index] as Named;
    const row = { email, breachCount, worst, firstSeenAt: planAt };
    return unwatched.put(org, id, { domainId, isIgnored: false, level }, row);
  });
  for (const { email, level, breachCount, worst } of named) {
    const row = stored.get(email);
    stored.delete(email);
    if (row === undefined) continue;
    const from: UnwatchedGroup = unwatched.groupOf(row);
    const isSame =
      row.breachCount === breachCount && level === from.level && String(row.worst) === String(worst);
    if (from.isIgnored || isSame) continue;
    const set = { breachCount, worst, firstSeenAt: row.firstSeenAt ?? planAt };
    changes.push(unwatched.change(org, row.id, { from, to: { ...from, level }, set }));
  }
  for (const row of stored.values()) {
    const from = unwatched.groupOf(row);
    if (!from.isIgnored || isWatched(row.email)) changes.push(unwatched.delete(org, row.id, from));
  }
  return changes;
};

/** More sub-addresses of one address are left out, the least breached first: they share its e-mail's row. */
const maximumSubAddresses = 500;

/** Makes the rows of e-mails name their sub-addresses, the most breached first. */
const noteSubAddresses = async (
  org: number,
  { name }: Domain,
  named: readonly Named[],
  { watched }: Known,
): Promise<void> => {
  const byBase = Map.groupBy(named, ({ base = "" }) => base);
  for (const [address, { id, subAddresses: before = [] }] of watched) {
    const of = byBase.get(address) ?? [];
    if ((before.length === 0 && of.length === 0) || !address.endsWith(`@${name}`)) continue;
    const subAddresses = of
      .map(({ email, breachCount }): SubAddress => ({ email, breachCount }))
      .sort((one, other) => other.breachCount - one.breachCount)
      .slice(0, maximumSubAddresses);
    if (isDeepStrictEqual(before, subAddresses)) continue;
    // Not written: the e-mail was removed meanwhile.
    await table.attempt(table.update(emails.key(org, id), { set: { subAddresses }, if: exists }));
  }
};
