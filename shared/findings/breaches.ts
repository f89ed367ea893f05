/** The breaches that an organization has findings of, or addresses that nobody watches. */
import { Refusal } from "../contract/errors.ts";
import { fold } from "../contract/search-text.ts";
import * as counts from "../counts/counts.ts";
import type { Breach } from "../hibp/breach.ts";
import * as breachDetails from "../hibp/breach-details.ts";
import { levelOf } from "../hibp/severity.ts";
import type { Severity } from "../hibp/severity-schema.ts";
import { countByBreach } from "../monitoring/unwatched/store.ts";
import * as breachDates from "./breach-dates.ts";
import type { FoundBreach, FoundBreachOrder, Triage } from "./breach-schema.ts";
import * as breachTriage from "./breach-triage.ts";
import { detailed } from "./detailed.ts";

type BreachQuery = {
  limit: number;
  offset: number;
  /** `open`: with open findings, or addresses that nobody watches and nobody ignores; `handled`: without. */
  state?: "open" | "handled" | undefined;
  severity?: readonly Severity[] | undefined;
  /** A part of title, name or domain. */
  q?: string | undefined;
  /** The id of the member who has it in hand, or nobody. */
  assignee?: number | "none" | undefined;
  order: FoundBreachOrder;
};

/** `level`: the highest severity that its findings have; `dates`: of these. Without findings that of the catalog. */
type CountedBreach = counts.StateCount & {
  breachId: number;
  unwatched: number;
  level: number;
  dates: breachDates.Dates | undefined;
  row: breachDates.BreachRow;
};

/** The catalog by name; empty where a request needs none of it. */
type Names = Awaited<ReturnType<typeof breachDetails.names>>;

type Order = (one: CountedBreach, other: CountedBreach) => number;
const byLevel: Order = (one, other) => other.level - one.level;
const byOpen: Order = (one, other) => other.open - one.open;
const byNewest: Order = (one, other) =>
  (other.dates?.last ?? 0) - (one.dates?.last ?? 0) || other.breachId - one.breachId;

/** The newest breach first, whenever it was found here. */
const byBreachDate =
  (dateOf: ReadonlyMap<number, string>): Order =>
  (one, other) =>
    (dateOf.get(other.breachId) ?? "").localeCompare(dateOf.get(one.breachId) ?? "");

const orderOf = (order: FoundBreachOrder, names: Names): Order => {
  if (order === "newest") return byNewest;
  if (order === "open")
    return (one, other) => byOpen(one, other) || byLevel(one, other) || byNewest(one, other);
  const byDate = byBreachDate(new Map([...names.values()].map(({ id, breachDate }) => [id, breachDate])));
  return (one, other) =>
    byLevel(one, other) || byDate(one, other) || byOpen(one, other) || byNewest(one, other);
};

/**
 * Takes two trips to the table, whatever the number of findings. With `q`, in the order of severity, or where breaches
 * have no findings, the catalog's names are needed. An instance that has not cached them takes one trip more. So does
 * `assignee`, since assignees may be removed. Reads are eventually consistent: what was found or acknowledged a moment
 * ago can be missing.
 */
export const list = async (
  org: number,
  { limit, offset, state, severity, q, assignee, order }: BreachQuery,
): Promise<{ breaches: FoundBreach[]; total: number }> => {
  const [counted, rows, unwatched, catalogVersion] = await Promise.all([
    counts.read(org, { consistent: false }),
    breachDates.readRows(org, { consistent: false }),
    countByBreach(org, { consistent: false }),
    breachDetails.version(),
  ]);
  const wanted = severity?.map(levelOf);
  const all = [...new Set([...counted.byBreach.keys(), ...unwatched.keys()])].flatMap(
    (breachId) =>
      countedBreach(counted, breachId, { row: rows.get(breachId), unwatched: unwatched.get(breachId) }) ?? [],
  );
  const needsNames = q !== undefined || order === "severity" || all.some(({ dates }) => dates === undefined);
  // While a sync writes, nothing of them is cached: once for all uses.
  const names: Names = needsNames ? await breachDetails.names(catalogVersion) : new Map();
  const listed = withLevels(all, names)
    .filter((each) => state === undefined || (state === "open") === each.open + each.unwatched > 0)
    .filter(({ level }) => wanted?.includes(level) ?? true);
  const named = q === undefined ? listed : withPart(listed, q, names);
  const labelsOf = (breaches: readonly CountedBreach[]) =>
    breachTriage.labelsFor(
      org,
      breaches.map(({ row }) => row),
    );
  // Assignees may be removed, so that the filter needs those of all.
  const known = assignee === undefined ? undefined : await labelsOf(named);
  const matching =
    assignee === undefined || known === undefined ? named : withAssignee(named, assignee, known);
  const onPage = matching.toSorted(orderOf(order, names)).slice(offset, offset + limit);
  const [details, labels] = await Promise.all([
    breachDetails.details(
      onPage.map(({ breachId }) => breachId),
      catalogVersion,
    ),
    known ?? labelsOf(onPage),
  ]);
  const breaches = onPage.map((each) =>
    shown(each, details.get(each.breachId), breachTriage.triageOf(each.row, labels)),
  );
  return { breaches, total: matching.length };
};

const withAssignee = (
  breaches: readonly CountedBreach[],
  assignee: number | "none",
  labels: Awaited<ReturnType<typeof breachTriage.labelsFor>>,
): CountedBreach[] => {
  const wanted = assignee === "none" ? null : assignee;
  return breaches.filter(({ row }) => (breachTriage.triageOf(row, labels).assignee?.id ?? null) === wanted);
};

export const find = async (org: number, breachId: number): Promise<FoundBreach | undefined> => {
  const [counted, row, unwatched, details] = await Promise.all([
    counts.read(org),
    breachDates.getRow(org, breachId),
    countByBreach(org),
    breachDetails.details([breachId]),
  ]);
  const breach = countedBreach(counted, breachId, { row, unwatched: unwatched.get(breachId) });
  if (breach === undefined) return undefined;
  const labels = await breachTriage.labelsFor(org, [row]);
  return shown(breach, details.get(breachId), breachTriage.triageOf(row, labels));
};

export const get = async (org: number, breachId: number): Promise<FoundBreach> => {
  const breach = await find(org, breachId);
  if (breach === undefined) throw new Refusal("breachNotFound");
  return breach;
};

/**
 * Undefined without findings and unwatched addresses. Findings without dates count as none: dates are written before
 * findings, so the first finding came after both were read.
 */
const countedBreach = (
  counted: counts.Counts,
  breachId: number,
  { row = {}, unwatched = 0 }: { row: breachDates.BreachRow | undefined; unwatched: number | undefined },
): CountedBreach | undefined => {
  const state = counted.byBreach.get(breachId);
  const dates = breachDates.datesIn(row);
  if (state !== undefined && dates !== undefined)
    return { ...state, breachId, unwatched, level: levelIn(counted, breachId), dates, row };
  const none = { open: 0, acknowledged: 0, level: levelOf("low"), dates: undefined };
  return unwatched > 0 ? { ...none, breachId, unwatched, row } : undefined;
};

/** The breaches, those without findings at the level of the catalog. */
const withLevels = (breaches: readonly CountedBreach[], names: Names): CountedBreach[] => {
  const levels = new Map([...names.values()].map(({ id, level }) => [id, level]));
  return breaches.map((each) =>
    each.dates === undefined ? { ...each, level: levels.get(each.breachId) ?? each.level } : each,
  );
};

/**
 * The highest severity of a breach's findings, which differ while a change is under way. Without findings the lowest.
 */
export const levelIn = ({ byLevel }: counts.Counts, breachId: number): number =>
  Math.max(levelOf("low"), ...(byLevel.get(breachId)?.keys() ?? []));

const withPart = (breaches: readonly CountedBreach[], part: string, names: Names): CountedBreach[] => {
  const wanted = fold(part);
  const ids = new Set<number>();
  for (const [name, { id, title, domain }] of names) {
    if ([title, name, domain].some((text) => fold(text).includes(wanted))) ids.add(id);
  }
  return breaches.filter(({ breachId }) => ids.has(breachId));
};

const shown = (
  { breachId, open, acknowledged, unwatched, dates }: CountedBreach,
  breach: Breach | undefined,
  triage: Triage,
): FoundBreach => {
  if (breach === undefined)
    throw new Error(`Addresses are in breach ${breachId}, which is not in the catalog`);
  return {
    ...detailed(breach),
    ...triage,
    open,
    acknowledged,
    unwatched,
    firstDetectedAt: dates === undefined ? null : new Date(dates.first).toISOString(),
    lastDetectedAt: dates === undefined ? null : new Date(dates.last).toISOString(),
  };
};
