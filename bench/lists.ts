import type { ListKind } from "../shared/aws/table/keys.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { setCatalog } from "./catalog.ts";
import { tableOf } from "./database.ts";
import { type HandlerCpu, handlerCpu, handlerCpuNote } from "./handler.ts";
import { type Measured, measure, measuredCells, measuredColumns, round, verdict } from "./measure.ts";
import { memoryTable, watchMemory } from "./memory.ts";
import { type Filter, type Plain, readPlainly } from "./plain.ts";
import { dollarsForUnits, dollarsNote } from "./prices.ts";
import { blocksHolding, partitionsOf } from "./seed/list-rows.ts";
import type { Seeded } from "./seed/seed.ts";
import { type Bench, seededDatabase, startBench } from "./service.ts";

export type ListCall = {
  name: string;
  /** The name of its function in functions/routes.ts. */
  function: string;
  path: string;
  /** The property of the reply that holds the members. */
  members: "breaches" | "emails" | "scans" | "activity";
  kind: ListKind;
  /** The query string's filter as a filter expression of DynamoDB. */
  filter?: Filter;
  /** Trips, with the authorizer's. */
  maxTrips: number;
};

const hasGroupKey = (key: string): Filter => ({
  expression: "#group = :groupKey",
  values: { ":groupKey": key },
});
const beginsWith = (text: string): Filter => ({
  expression: "begins_with(#group, :f)",
  values: { ":f": text },
});
const contains = (text: string): Filter => ({
  expression: "contains(#group, :f)",
  values: { ":f": text },
});

/** Pages of 50 of every list: both ends, the middle, and filters that match fewer and fewer members. */
export const listCalls = ({ findings, addresses, scanIds, scanCount, activityCount }: Seeded): ListCall[] => {
  const breaches = {
    function: "list-breaches",
    members: "breaches",
    kind: "FINDING",
    maxTrips: 4,
  } as const;
  const emails = { function: "list-emails", members: "emails", kind: "EMAIL", maxTrips: 3 } as const;
  const scans = { function: "list-scans", members: "scans", kind: "SCAN", maxTrips: 3 } as const;
  const activity = {
    function: "list-activity",
    members: "activity",
    kind: "ACTIVITY",
    maxTrips: 3,
  } as const;
  const page = (list: string, query = "", offset = 0): { name: string; path: string } => ({
    name: `GET /${list}${query === "" ? "" : `?${query}`}${offset === 0 ? "" : ` at ${offset.toLocaleString("en-US")}`}`,
    path: `/${list}?limit=50&offset=${offset}${query === "" ? "" : `&${query}`}`,
  });
  const middle = (count: number): number => Math.floor(count / 2);
  return [
    { ...breaches, ...page("breaches") },
    { ...breaches, ...page("breaches", "", middle(findings)) },
    { ...breaches, ...page("breaches", "", findings - 50) },
    { ...breaches, ...page("breaches", "acknowledged=true"), filter: contains("-1-") },
    {
      ...breaches,
      ...page("breaches", "acknowledged=true", middle(middle(findings))),
      filter: contains("-1-"),
    },
    {
      ...breaches,
      ...page("breaches", `scanId=${scanIds.newest}`),
      filter: beginsWith(`${scanIds.newest}-`),
    },
    {
      ...breaches,
      ...page("breaches", `scanId=${scanIds.second}&acknowledged=true`),
      filter: beginsWith(`${scanIds.second}-1-`),
    },
    {
      ...breaches,
      ...page("breaches", `scanId=${scanIds.bulk}&acknowledged=false`),
      filter: beginsWith(`${scanIds.bulk}-0-`),
    },
    { ...emails, ...page("emails") },
    { ...emails, ...page("emails", "", middle(addresses)) },
    { ...emails, ...page("emails", "", addresses - 50) },
    { ...emails, ...page("emails", "domainId=1"), filter: beginsWith("1-") },
    { ...emails, ...page("emails", "domainId=3"), filter: beginsWith("3-") },
    { ...emails, ...page("emails", "isActive=false"), filter: contains("-0") },
    { ...scans, ...page("scans") },
    { ...scans, ...page("scans", "", middle(scanCount)) },
    { ...scans, ...page("scans", "status=failed"), filter: contains("failed") },
    { ...activity, ...page("activity") },
    { ...activity, ...page("activity", "", middle(activityCount)) },
    { ...activity, ...page("activity", "category=alerts"), filter: hasGroupKey("alerts") },
  ];
};

const timedCalls = 30;
const targetCpuMilliseconds = 20;
const maxRuntimeMegabytes = 600;

/** The most read units that a page may take: of a whole list, and of members that match a filter. */
const maxReadUnits = { unfiltered: 60, filtered: 200 };

const columns = [
  "Page of 50",
  "Matching",
  "Blocks of the page",
  ...measuredColumns,
  "CPU ms, median",
  "Warm: read units",
  "Plain: read units",
  "Plain: round trips",
  "Plain: KB",
  "Plain: CPU ms",
  "Plain: ms",
  "Plain: $/million",
  "Targets",
];

/** Calls the list once to count, and then `timedCalls` times to time. */
export const measureCalls = (bench: Bench, list: ListCall, timedCalls = 0): Promise<Measured> =>
  measure(bench, {
    function: list.function,
    call: () => ({ method: "GET", path: list.path }),
    status: 200,
    timedCalls,
  });

/**
 * `cold`: of an instance that had read no breach. `plains`: the plain queries made so far, by `plainKey`;
 * adds its own.
 */
const measureList = async (
  bench: Bench,
  list: ListCall,
  { cold, cpu, plains }: { cold: Measured; cpu: HandlerCpu; plains: Map<string, Plain> },
): Promise<Cell[]> => {
  const { seeded, engine } = bench;
  await bench.api.send({ method: "GET", path: list.path });
  const warm = await measureCalls(bench, list, timedCalls);
  if (list.function === "list-breaches" && warm.readUnits >= cold.readUnits)
    throw new Error(
      `${list.name} read ${warm.readUnits} units again: its instance did not cache the breaches`,
    );
  const { p50, p99, dollars } = warm;
  const measured = { ...cold, p50, p99, dollars, cpuMilliseconds: cpu.least };
  const { body } = measured.reply;
  const total = Number(body.total);
  const blocks = blocksHolding(body[list.members] as { id: number }[]);

  const since = (body.retention as { visibleSince: string } | undefined)?.visibleSince;
  const key = plainKey({ ...list, since });
  const plain =
    plains.get(key) ??
    (await readPlainly(engine.url, tableOf(bench.assembly).name, {
      partitions: partitionsOf(list.kind, membersOf(list.kind, seeded)),
      filter: list.filter,
      since,
    }));
  plains.set(key, plain);
  if (plain.total !== total) {
    throw new Error(`${list.name} answers a total of ${total}, but a plain query finds ${plain.total}`);
  }

  const allowed = list.filter === undefined ? maxReadUnits.unfiltered : maxReadUnits.filtered;
  const targets = [
    verdict("round trips", measured.trips, list.maxTrips),
    verdict("read, warm", warm.readUnits, allowed),
    verdict("CPU", measured.cpuMilliseconds, targetCpuMilliseconds),
  ];
  return [
    list.name,
    total,
    blocks,
    ...measuredCells(measured),
    round(cpu.median),
    warm.readUnits,
    plain.readUnits,
    plain.trips,
    Math.round(plain.bytes / 1024),
    Math.round(plain.cpuMilliseconds),
    Math.round(plain.milliseconds),
    round(1e6 * dollarsForUnits({ readUnits: plain.readUnits, writeUnits: 0 })),
    targets.join(", "),
  ];
};

type PlainList = { kind: ListKind; filter?: Filter | undefined; since?: string | undefined };

const plainKey = ({ kind, filter, since }: PlainList): string => JSON.stringify([kind, filter, since]);

const membersOf = (kind: ListKind, { findings, addresses, scanCount, activityCount }: Seeded): number =>
  kind === "FINDING" ? findings : kind === "EMAIL" ? addresses : kind === "SCAN" ? scanCount : activityCount;

const measureSize = async (size: number, { progress }: Context): Promise<Table[]> => {
  const database = await seededDatabase(size, progress);
  const bench = await startBench(database);
  const memory = watchMemory([bench.service.process.pid ?? 0, bench.engine.processId], 2_000);
  try {
    const lists = listCalls(bench.seeded);
    const ofSize = `${size.toLocaleString("en-US")} findings`;
    await setCatalog(bench, "changing");
    const cold: Measured[] = [];
    for (const list of lists) cold.push(await measureCalls(bench, list));
    await setCatalog(bench, "settled");
    const cpu = await handlerCpu(bench, lists, (done, of) =>
      progress(`lists: CPU time of handlers at ${ofSize}`, done, of),
    );
    const plains = new Map<string, Plain>();
    const rows: Cell[][] = [];
    for (const [index, list] of lists.entries()) {
      progress(`lists: pages at ${ofSize}`, index, lists.length);
      rows.push(
        await measureList(bench, list, {
          cold: cold[index] as Measured,
          cpu: cpu[index] as HandlerCpu,
          plains,
        }),
      );
    }
    const plainTotal = (filter?: Filter): number =>
      plains.get(plainKey({ kind: "FINDING", filter }))?.total ?? Number.NaN;
    const expected = plainTotal() - plainTotal(contains("-1-"));
    for (const [index, { name, members }] of lists.entries()) {
      const { unacknowledged } = (cold[index] as Measured).reply.body;
      if (members === "breaches" && unacknowledged !== expected) {
        throw new Error(
          `${name} answers ${unacknowledged} unacknowledged, but plain queries find ${expected}`,
        );
      }
    }
    const { addresses } = bench.seeded;
    const used = memory.stop();
    const table: Table = {
      title: `Lists: ${ofSize} of ${addresses.toLocaleString("en-US")} addresses`,
      columns,
      rows,
      notes: [
        "Round trips, units, requests and KB are those between functions and table for the whole request. The authorizer's 2 read and 2 write units are included. They are measured on an instance that has read none of these breaches; warm read units, CPU ms, times and dollars on an instance that has.",
        "Plain: query the whole list with a filter expression, count what comes, and skip to the offset. The totals and `unacknowledged` of the service equal what the plain queries counted. Plain round trips are pages of 1 MB, one after the other. Plain ms and CPU ms (of this process) come from one query for each block, which are more requests. Plain dollars are those of the units alone.",
        "Rare members are noted, as the end of a scan leaves them. A filtered page reads a block as a whole if members of it have come to match since.",
        `p99 ms is the slowest of ${timedCalls} calls. ${handlerCpuNote}`,
        dollarsNote,
        `Seeding wrote ${database.rows.toLocaleString("en-US")} rows in ${Math.ceil(database.seconds)} s.`,
        `The local runtime and its engine together took at most ${Math.round(used.megabytes)} MB: ${verdict("MB", used.megabytes, maxRuntimeMegabytes)}.`,
      ],
    };
    return [table, memoryTable(bench, used.functions)];
  } finally {
    memory.stop();
    await bench.close();
  }
};

export const lists: Arm = {
  name: "lists",
  about: "Pages of every list, compared with plain queries",
  run: async (context) => {
    const tables: Table[] = [];
    for (const size of context.sizes) tables.push(...(await measureSize(size, context)));
    return tables;
  },
};
