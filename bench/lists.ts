import { blockOf, blockSize } from "../shared/table/blocks.ts";
import type { ListKind } from "../shared/table/keys.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { setCatalog } from "./catalog.ts";
import { tableOf } from "./database.ts";
import { dollarsForUnits, dollarsNote } from "./dollars.ts";
import { type HandlerCpu, handlerCpu, handlerCpuNote } from "./handler.ts";
import { type Measured, measure, measuredCells, measuredColumns, round, verdict } from "./measure.ts";
import { memoryTable, watchMemory } from "./memory.ts";
import { type Filter, type Plain, readPlainly } from "./plain.ts";
import type { Seeded } from "./seed.ts";
import { type Bench, seededDatabase, startBench } from "./service.ts";

export type ListCall = {
  name: string;
  /** Of its function. */
  function: string;
  path: string;
  /** The key of the members in the reply. */
  members: "breaches" | "emails" | "scans" | "activity";
  kind: ListKind;
  filter?: Filter;
  /** Most round trips, the authorizer's included. */
  maxTrips: number;
};

const hasFacet = (facet: string): Filter => ({ expression: "#facet = :facet", values: { ":facet": facet } });
const begins = (text: string): Filter => ({ expression: "begins_with(#facet, :f)", values: { ":f": text } });
const contains = (text: string): Filter => ({ expression: "contains(#facet, :f)", values: { ":f": text } });

/** Pages of 50 of every list: at both ends and in the middle, and with filters that match less and less. */
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
    { ...breaches, ...page("breaches", "acknowledged=true"), filter: contains("-1") },
    {
      ...breaches,
      ...page("breaches", "acknowledged=true", middle(middle(findings))),
      filter: contains("-1"),
    },
    { ...breaches, ...page("breaches", `scanId=${scanIds.newest}`), filter: begins(`${scanIds.newest}-`) },
    {
      ...breaches,
      ...page("breaches", `scanId=${scanIds.second}&acknowledged=true`),
      filter: hasFacet(`${scanIds.second}-1`),
    },
    {
      ...breaches,
      ...page("breaches", `scanId=${scanIds.bulk}&acknowledged=false`),
      filter: hasFacet(`${scanIds.bulk}-0`),
    },
    { ...emails, ...page("emails") },
    { ...emails, ...page("emails", "", middle(addresses)) },
    { ...emails, ...page("emails", "", addresses - 50) },
    { ...emails, ...page("emails", "domainId=1"), filter: begins("1-") },
    { ...emails, ...page("emails", "domainId=3"), filter: begins("3-") },
    { ...emails, ...page("emails", "isActive=false"), filter: contains("-0") },
    { ...scans, ...page("scans") },
    { ...scans, ...page("scans", "", middle(scanCount)) },
    { ...scans, ...page("scans", "status=failed"), filter: contains("failed") },
    { ...activity, ...page("activity") },
    { ...activity, ...page("activity", "", middle(activityCount)) },
    { ...activity, ...page("activity", "category=alerts"), filter: hasFacet("alerts") },
  ];
};

const timedCalls = 30;
const targetCpuMilliseconds = 5;
const maxRuntimeMegabytes = 600;

/** Most read units of an unfiltered page; scans and activity have none. */
const maxReadUnits = (list: ListCall, { findings }: Seeded): number | undefined => {
  if (list.kind === "EMAIL") return 60;
  if (list.kind !== "FINDING") return undefined;
  return findings > 100_000 ? 120 : findings > 1_000 ? 60 : 40;
};

/** What a filtered page may read on top for every block that holds part of it. */
const unitsPerBlock = 52;

const columns = [
  "Page of 50",
  "Matching",
  "Blocks of the page",
  ...measuredColumns,
  "CPU ms, median",
  "Warm: read units",
  "Plain: read units",
  "Plain: trips",
  "Plain: KB",
  "Plain: CPU ms",
  "Plain: ms",
  "Plain: $/million",
  "Targets",
];

/** The list called once to count, and then as often to time. */
export const measureCalls = (bench: Bench, list: ListCall, timedCalls = 0): Promise<Measured> =>
  measure(bench, {
    function: list.function,
    call: () => ({ method: "GET", path: list.path }),
    status: 200,
    timedCalls,
  });

const measureList = async (
  bench: Bench,
  list: ListCall,
  cold: Measured,
  cpu: HandlerCpu,
  tableName: string,
  plains: Map<string, Plain>,
): Promise<Cell[]> => {
  const { seeded, engine } = bench;
  await bench.api.send({ method: "GET", path: list.path });
  const warm = await measureCalls(bench, list, timedCalls);
  if (list.function === "list-breaches" && warm.readUnits >= cold.readUnits)
    throw new Error(`${list.name} read ${warm.readUnits} units with the breaches known: nothing was kept`);
  const { p50, p99, dollars } = warm;
  const measured = { ...cold, p50, p99, dollars, cpuMilliseconds: cpu.least };
  const { body } = measured.reply;
  const total = Number(body.total);
  const blocks = new Set((body[list.members] as { id: number }[]).map(({ id }) => blockOf(id))).size;

  const since = (body.retention as { visibleSince: string } | undefined)?.visibleSince;
  const key = plainKey({ ...list, since });
  const plain =
    plains.get(key) ??
    (await readPlainly(engine.url, tableName, {
      org: seeded.org,
      kind: list.kind,
      blocks: Math.ceil(membersOf(list.kind, seeded) / blockSize),
      filter: list.filter,
      since,
    }));
  plains.set(key, plain);
  if (plain.total !== total) {
    throw new Error(`${list.name} says that there are ${total}, but there are ${plain.total}`);
  }

  const allowed = maxReadUnits(list, seeded);
  const targets = [
    verdict("trips", measured.trips, list.maxTrips),
    ...(allowed === undefined
      ? []
      : [
          verdict(
            "read",
            measured.readUnits,
            allowed + (list.filter === undefined ? 0 : unitsPerBlock * blocks),
          ),
        ]),
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
      progress(`handlers of lists of ${ofSize}`, done, of),
    );
    const tableName = tableOf(bench.assembly).name;
    const plains = new Map<string, Plain>();
    const rows: Cell[][] = [];
    for (const [index, list] of lists.entries()) {
      progress(`lists of ${ofSize}`, index, lists.length);
      rows.push(
        await measureList(bench, list, cold[index] as Measured, cpu[index] as HandlerCpu, tableName, plains),
      );
    }
    const plainTotal = (filter?: Filter): number =>
      plains.get(plainKey({ kind: "FINDING", filter }))?.total ?? Number.NaN;
    const open = plainTotal() - plainTotal(contains("-1"));
    for (const [index, { name, members }] of lists.entries()) {
      const { unacknowledged } = (cold[index] as Measured).reply.body;
      if (members === "breaches" && unacknowledged !== open) {
        throw new Error(`${name} says that ${unacknowledged} are not acknowledged, but ${open} are`);
      }
    }
    const { addresses } = bench.seeded;
    const used = memory.stop();
    const table: Table = {
      title: `Lists: ${ofSize} of ${addresses.toLocaleString("en-US")} addresses`,
      columns,
      rows,
      notes: [
        "Trips, units, requests and KB are those of the whole request between functions and table, authorizer included: 2 read and 2 write units of it are the authorizer's. They are of an instance that has read none of these breaches; warm read units, CPU, times and dollars are of one that has.",
        "Plain: query the whole list with a filter, count, skip to the offset; trips are pages of 1 MB one after the other. Its totals were compared with ours, and so was `unacknowledged`. Its ms and CPU ms (of this process) are of one query for each block, which are more requests than those trips; its dollars of units alone.",
        "Directories are as the last scan's end leaves them: rolled up and marked. Each block that was written to since adds its row to what a list reads, and is read by itself where a filter matches what was moved.",
        `p99 of ${timedCalls} calls is the slowest. ${handlerCpuNote}`,
        dollarsNote,
        `Seeded: ${database.rows.toLocaleString("en-US")} rows in ${Math.ceil(database.seconds)} s.`,
        `Meanwhile the local runtime and its engine took ${Math.round(used.megabytes)} MB together at most: ${verdict("MB", used.megabytes, maxRuntimeMegabytes)}.`,
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
  about: "Pages of every list, beside the plain way",
  run: async (context) => {
    const tables: Table[] = [];
    for (const size of context.sizes) tables.push(...(await measureSize(size, context)));
    return tables;
  },
};
