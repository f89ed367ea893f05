/**
 * The counts of an organization that no list keeps (counts/counts.ts) against its findings, e-mails and
 * deliveries.
 */
import { deliveries } from "../../alerting/deliveries/delivery.ts";
import type { Item } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as counts from "../../counts/counts.ts";
import * as news from "../../counts/news.ts";
import * as breachDates from "../../findings/breach-dates.ts";
import { countedOf, findings } from "../../findings/record.ts";
import type { Tally } from "../../lists/tally.ts";
import { emails, isBreached } from "../../monitoring/emails/record.ts";
import { compare } from "./derived-row.ts";
import type { Problem } from "./inspector.ts";

/** `newByDay`: by day and attribute. `dates`: by breach id. */
type Recounted = {
  sums: Map<string, number>;
  newByDay: Map<string, Record<string, number>>;
  dates: Map<number, breachDates.Dates>;
};

/**
 * What the counts should be, by attribute, and the other rows that are computed from the same members.
 * Reads all members.
 */
const recount = async (org: number): Promise<Recounted> => {
  const sums = new Map<string, number>();
  const newByDay: Recounted["newByDay"] = new Map();
  const dates: Recounted["dates"] = new Map();
  const add = (changes: counts.Changes): void => {
    for (const [name, by] of counts.differencesOf(changes)) sums.set(name, (sums.get(name) ?? 0) + by);
    for (const [day, ofDay] of news.differencesOf(changes)) {
      const before = newByDay.get(day) ?? {};
      newByDay.set(day, before);
      for (const [name, by] of Object.entries(ofDay)) before[name] = (before[name] ?? 0) + by;
    }
  };
  const blocksIn = (tally: Tally): number[] => tally.map(({ block }) => block);
  const ofFindings = { project: ["id", "group", "breachId", "firstDetectedAt", "acknowledgment.at"] };
  for await (const rows of findings.membersOf(org, blocksIn(await findings.tally(org)), ofFindings)) {
    add({ findings: rows.map((row) => ({ ...row, to: countedOf(row) })) });
    for (const [id, some] of breachDates.datesOf(rows)) dates.set(id, breachDates.union(some, dates.get(id)));
  }
  const ofEmails = { project: ["group", "findings"] };
  for await (const rows of emails.membersOf(org, blocksIn(await emails.tally(org)), ofEmails)) {
    add({
      breachedEmails: rows.filter((row) => emails.groupOf(row).isActive && isBreached(row)).length,
    });
  }
  const ofDeliveries = { project: ["id", "group", "status"] };
  for await (const rows of deliveries.membersOf(org, blocksIn(await deliveries.tally(org)), ofDeliveries)) {
    for (const row of rows.filter(({ status }) => status === "not delivered"))
      add({ notDelivered: { ...deliveries.groupOf(row), by: 1, deliveryId: row.id } });
  }
  return { sums, newByDay, dates };
};

/** The sum of all rows counts, so that it does not matter which of them takes a correction. */
export const compareCounts = async (org: number): Promise<Problem[]> => {
  const subject = { kind: "counts", id: org };
  const key = keys.counts(org, "0");
  const row = await table.get<Item>(key);
  const is = await counts.readSums(org);
  const firstDay = news.firstDay(new Date());
  const knownDates = await breachDates.read(org);
  const { sums: should, newByDay, dates } = await recount(org);
  const stored = await news.readSums(org, firstDay);
  // Whatever changes a recounted row changes counts too.
  const isStill = async () => (await counts.readSums(org)).get("writes") === is.get("writes");
  const excess = excessOf(is, should);
  const problems = compare(subject, {
    key,
    row,
    holds: holdsWithout(excess, row),
    reliesOn: ["writes"],
    says: textOf(excess),
    isStill,
  });
  const days = [...new Set([...stored.keys(), ...newByDay.keys()])].filter((day) => day >= firstDay);
  const ofDays = await Promise.all(
    days.map(async (day) => {
      const dayKey = keys.news(org, day, 0);
      const dayRow = await table.get<Item>(dayKey);
      // People are counted as they are found, which no row tells afterwards.
      const { people: _, ...ofBreachesFound } = stored.get(day) ?? {};
      const inExcess = excessOf(entriesOf(ofBreachesFound), entriesOf(newByDay.get(day)));
      return compare(subject, {
        key: dayKey,
        row: dayRow,
        holds: inExcess.length === 0 ? {} : { ...holdsWithout(inExcess, dayRow), ...news.expiryOf(day) },
        says: `of what is new since ${day}: ${textOf(inExcess)}`,
        isStill,
      });
    }),
  );
  const ofBreaches = [...dates].map(([breachId, each]) => {
    const known = knownDates.get(breachId);
    // Removing e-mails leaves the dates as they were, so they may reach beyond those of the findings that are left.
    const holds = breachDates.union(each, known);
    const key = keys.breachDates(org, breachId);
    return compare({ kind: "breach", id: breachId }, { key, row: known, holds, isStill });
  });
  return [...problems, ...ofDays.flat(), ...ofBreaches.flat()];
};

type Excess = { name: string; is: number; should: number };

const entriesOf = (counted: Record<string, number> = {}): Map<string, number> =>
  new Map(Object.entries(counted));

/** The counts that differ. */
const excessOf = (is: ReadonlyMap<string, number>, should: ReadonlyMap<string, number>): Excess[] =>
  [...new Set([...is.keys(), ...should.keys()])]
    .filter((name) => name !== "writes")
    .map((name) => ({ name, is: is.get(name) ?? 0, should: should.get(name) ?? 0 }))
    .filter((each) => each.is !== each.should)
    .sort((one, other) => (one.name < other.name ? -1 : 1));

const holdsWithout = (excess: readonly Excess[], row: Item | undefined): Item =>
  Object.fromEntries(excess.map(({ name, is, should }) => [name, Number(row?.[name] ?? 0) - (is - should)]));

/** Wrong counts that a report names. */
const maximumNamed = 10;

const textOf = (excess: readonly Excess[]): string =>
  excess
    .slice(0, maximumNamed)
    .map(({ name, is, should }) => `${name} is ${is}, should be ${should}`)
    .join("; ");
