/** The breaches that an organization has findings of. */
import { Refusal } from "../contract/errors.ts";
import { fold } from "../contract/search-text.ts";
import * as counts from "../counts/counts.ts";
import type { Breach } from "../hibp/breach.ts";
import * as breachDetails from "../hibp/breach-details.ts";
import { levelOf } from "../hibp/severity.ts";
import type { Severity } from "../hibp/severity-schema.ts";
import * as breachDates from "./breach-dates.ts";
import type { FoundBreach, FoundBreachOrder } from "./breach-schema.ts";
import { detailed } from "./detailed.ts";

type BreachQuery = {
  limit: number;
  offset: number;
  /** `open`: with open findings; `handled`: without. */
  state?: "open" | "handled" | undefined;
  severity?: readonly Severity[] | undefined;
  /** A part of title, name or domain. */
  q?: string | undefined;
  order: FoundBreachOrder;
};

/** `level`: the highest severity that its findings have. */
type CountedBreach = counts.StateCount & { breachId: number; level: number; dates: breachDates.Dates };

type Order = (one: CountedBreach, other: CountedBreach) => number;
const byLevel: Order = (one, other) => other.level - one.level;
const byOpen: Order = (one, other) => other.open - one.open;
const byNewest: Order = (one, other) => other.dates.last - one.dates.last || other.breachId - one.breachId;

/** The newest breach first, whenever it was found here. */
const byBreachDate =
  (breachDates: ReadonlyMap<number, string>): Order =>
  (one, other) =>
    (breachDates.get(other.breachId) ?? "").localeCompare(breachDates.get(one.breachId) ?? "");

const orderOf = async (order: FoundBreachOrder, catalogVersion: string | undefined): Promise<Order> => {
  if (order === "newest") return byNewest;
  if (order === "open")
    return (one, other) => byOpen(one, other) || byLevel(one, other) || byNewest(one, other);
  const names = await breachDetails.names(catalogVersion);
  const byDate = byBreachDate(new Map([...names.values()].map(({ id, breachDate }) => [id, breachDate])));
  return (one, other) =>
    byLevel(one, other) || byDate(one, other) || byOpen(one, other) || byNewest(one, other);
};

/**
 * Takes two trips to the table, whatever the number of findings. With `q` or in the order of severity, an
 * instance that has not cached the catalog's names takes one more. Reads are eventually consistent: what was
 * found or acknowledged a moment ago can be missing.
 */
export const list = async (
  org: number,
  { limit, offset, state, severity, q, order }: BreachQuery,
): Promise<{ breaches: FoundBreach[]; total: number }> => {
  const [counted, dates, catalogVersion] = await Promise.all([
    counts.read(org, { consistent: false }),
    breachDates.read(org, { consistent: false }),
    breachDetails.version(),
  ]);
  const wanted = severity?.map(levelOf);
  const listed = [...counted.byBreach.keys()]
    .flatMap((breachId) => countedBreach(counted, breachId, dates.get(breachId)) ?? [])
    .filter(({ open }) => state === undefined || (state === "open") === open > 0)
    .filter(({ level }) => wanted?.includes(level) ?? true);
  const named = q === undefined ? listed : await withPart(listed, q, catalogVersion);
  const onPage = named.sort(await orderOf(order, catalogVersion)).slice(offset, offset + limit);
  const details = await breachDetails.details(
    onPage.map(({ breachId }) => breachId),
    catalogVersion,
  );
  return { breaches: onPage.map((each) => shown(each, details.get(each.breachId))), total: named.length };
};

export const find = async (org: number, breachId: number): Promise<FoundBreach | undefined> => {
  const [counted, dates, details] = await Promise.all([
    counts.read(org),
    breachDates.get(org, breachId),
    breachDetails.details([breachId]),
  ]);
  const breach = countedBreach(counted, breachId, dates);
  return breach && shown(breach, details.get(breachId));
};

export const get = async (org: number, breachId: number): Promise<FoundBreach> => {
  const breach = await find(org, breachId);
  if (breach === undefined) throw new Refusal("breachNotFound");
  return breach;
};

/**
 * Undefined without findings. Without dates too: these are written before findings, so the first finding came
 * after both were read.
 */
const countedBreach = (
  counted: counts.Counts,
  breachId: number,
  dates: breachDates.Dates | undefined,
): CountedBreach | undefined => {
  const state = counted.byBreach.get(breachId);
  if (state === undefined || dates === undefined) return undefined;
  return { ...state, breachId, level: levelIn(counted, breachId), dates };
};

/**
 * The highest severity of a breach's findings, which differ while a change is under way. Without findings the lowest.
 */
export const levelIn = ({ byLevel }: counts.Counts, breachId: number): number =>
  Math.max(levelOf("low"), ...(byLevel.get(breachId)?.keys() ?? []));

const withPart = async (
  breaches: readonly CountedBreach[],
  part: string,
  catalogVersion: string | undefined,
): Promise<CountedBreach[]> => {
  const wanted = fold(part);
  const ids = new Set<number>();
  for (const [name, { id, title, domain }] of await breachDetails.names(catalogVersion)) {
    if ([title, name, domain].some((text) => fold(text).includes(wanted))) ids.add(id);
  }
  return breaches.filter(({ breachId }) => ids.has(breachId));
};

const shown = (
  { breachId, open, acknowledged, dates }: CountedBreach,
  breach: Breach | undefined,
): FoundBreach => {
  if (breach === undefined) throw new Error(`Findings name breach ${breachId}, which is not in the catalog`);
  return {
    ...detailed(breach),
    open,
    acknowledged,
    firstDetectedAt: new Date(dates.first).toISOString(),
    lastDetectedAt: new Date(dates.last).toISOString(),
  };
};
