/** Which of the breached addresses that nobody watches people mean. */
import type { NameRow } from "../../hibp/breach-details.ts";
import { levelOf } from "../../hibp/severity.ts";
import type { Severity } from "../../hibp/severity-schema.ts";
import { type Matcher, matcherOf } from "../emails/search.ts";
import { type Kept, type Listed, listedIn } from "./record.ts";

export type Filter = {
  domainId?: number | undefined;
  ignored?: boolean | undefined;
  severity?: readonly Severity[] | undefined;
  breachId?: number | undefined;
  q?: string | undefined;
  /** ISO 8601: nothing was new of them from then on. */
  newBefore?: string | undefined;
  /** ISO 8601: they were ignored at exactly this time. */
  ignoredAt?: string | undefined;
};

/** `level`: the severity of its worst breach. */
export type Row = Listed & { level: number };

/** Breaches by id, of the catalog's names. */
type Breaches = ReadonlyMap<number, NameRow>;

export const byId = (names: ReadonlyMap<string, NameRow>): Breaches =>
  new Map([...names.values()].map((row) => [row.id, row]));

export const levelIn = (breaches: Breaches, breachId: number): number =>
  breaches.get(breachId)?.level ?? levelOf("low");

/** What a filter leaves of the addresses that are kept of a domain. */
export const rowsOf = (
  { id, name }: { id: number; name: string },
  kept: Kept,
  breaches: Breaches,
  { domainId, ignored, severity, breachId, q, newBefore, ignoredAt }: Filter,
): Row[] => {
  if (domainId !== undefined && domainId !== id) return [];
  const levels = severity && new Set(severity.map(levelOf));
  const finds: Matcher | undefined = q === undefined ? undefined : matcherOf(q);
  const isAll = finds?.domain(name) === true;
  return listedIn(kept)
    .filter(
      (each) =>
        (ignored === undefined || each.ignored === ignored) &&
        (breachId === undefined || each.breachIds.includes(breachId)) &&
        (finds === undefined || isAll || finds.address(`${each.alias}@${name}`)) &&
        (newBefore === undefined || each.lastNewAt < newBefore) &&
        (ignoredAt === undefined || each.ignoredAt === ignoredAt),
    )
    .map((each) => ({
      ...each,
      level: each.breachIds.reduce((worst, id) => Math.max(worst, levelIn(breaches, id)), levelOf("low")),
    }))
    .filter(({ level }) => levels === undefined || levels.has(level));
};
