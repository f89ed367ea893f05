/** What a month costs: measured units times the prices, each line with its arithmetic. */
import { setTimeout } from "node:timers/promises";
import { scans } from "../shared/scans/record.ts";
import { startReceiver } from "../test/alerts/receiver.ts";
import { type HibpServer, startHibpServer } from "../test/service/hibp-server.ts";
import type { Call } from "./api.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { setCatalog } from "./catalog.ts";
import { committing, previewing, rowCount } from "./import.ts";
import { scanEnds } from "./operations.ts";
import { type Logs, openLogs, type Run } from "./runs.ts";
import { accountsOf, type Size, seed, upstreamBreach } from "./seed.ts";
import { assembly, type Bench, type Database, makeDatabase, startBench } from "./service.ts";
import { resourcesOf } from "./stack.ts";
import { storedBytes } from "./stored-bytes.ts";

const days = 30;
const hours = days * 24;
const minutes = hours * 60;
const callsADay = 1_000;
const calls = days * callsADay;

/** us-east-1, on demand, without free tiers. */
const price = {
  readUnit: 0.125e-6,
  writeUnit: 0.625e-6,
  apiRequest: 3.5e-6,
  invocation: 0.2e-6,
  gigabyteSecond: 13.33e-6,
  queueRequest: 0.4e-6,
  schedule: 1e-6,
  alarmMetric: 0.1,
  secret: 0.4,
  secretRequest: 0.05 / 10_000,
  keyRequest: 0.03 / 10_000,
  storedGigabyte: 0.25,
  backedUpGigabyte: 0.2,
  loggedGigabyte: 0.5,
  keptLogGigabyte: 0.03,
  trace: 5e-6,
  sentGigabyte: 0.09,
};

/** Of a hundred calls: what a dashboard and an integration that looks for news ask for. */
const mix: readonly { share: number; call: Call; function: string }[] = [
  {
    share: 50,
    function: "list-breaches",
    call: { method: "GET", path: "/breaches?acknowledged=false&limit=50" },
  },
  { share: 20, function: "list-emails", call: { method: "GET", path: "/emails" } },
  { share: 15, function: "list-scans", call: { method: "GET", path: "/scans" } },
  { share: 10, function: "list-activity", call: { method: "GET", path: "/activity" } },
  { share: 5, function: "acknowledge-breach", call: { method: "POST", path: "/breaches/acknowledge" } },
];

/** Assumed: an event source asks its queue in long polls of 20 seconds, five at a time while nothing comes. */
const pollsAMinute = 5 * 3;

/** A message is sent, received and deleted. */
const requestsOfMessage = 3;

/** Assumed, of an instance that rests before it ends, and of the table's key that a role has used. */
const keptMinutes = 5;

/** Assumed: a line of API Gateway's access log. */
const accessLogBytes = 300;

const logMonths = 3;

/** HIBP's list has about a megabyte. */
const listedBreaches = 1_000;

/** Lambda gives 256 MB this part of a core. */
const coreShare = 1 / 7;

type Line = [item: string, arithmetic: string, dollars: number];

type Work = { readUnits: number; writeUnits: number; runs: Run[]; logBytes: number };

const gigabyteSeconds = (runs: readonly Run[]): number =>
  runs.reduce((sum, run) => sum + run.gigabyteSeconds, 0);

const hibpFor = async (size: Size, covered: readonly string[]): Promise<HibpServer> =>
  Object.assign(await startHibpServer(), {
    accounts: accountsOf(size),
    catalog: Array.from({ length: listedBreaches }, (_, index) => upstreamBreach(index + 1)),
    covered,
  });

/** Schedules run faster here, so that an hour takes a minute. */
const speed = 60;

/** What the schedules do in an hour in which nothing is due, whatever the size: they only read what is. */
const measureQuietHour = async ({ progress }: Context): Promise<Work> => {
  const size = { addresses: 10, findings: 30 };
  const database = await makeDatabase("cost-quiet", size, { progress });
  const hibp = await hibpFor(size, database.seeded.domains);
  const bench = await startBench(database, {
    hibpUrl: hibp.url,
    countsWorkers: true,
    further: ["--speed", String(speed)],
  });
  try {
    progress("cost of a quiet hour: a minute");
    const logs = await openLogs(bench);
    // The first one takes the whole catalog for news.
    await logs.until("sync-catalog", 2);
    bench.meter.take();
    logs.take();
    await logs.until("sync-catalog", 4);
    const { runs, bytes: logBytes } = logs.take();
    const { readUnits, writeUnits } = bench.meter.take();
    return { readUnits, writeUnits, runs, logBytes };
  } finally {
    await bench.close();
    await hibp.close();
  }
};

/** One scan, from its request until the alerts of its end are delivered. */
const measureScan = async (
  bench: Bench,
  { scheduled, alerts }: { scheduled: ReadonlySet<string>; alerts: number },
): Promise<Work> => {
  const logs = await openLogs(bench);
  // Their first runs are not the scan's.
  for (const name of scheduled) await logs.until(name, 1);
  bench.meter.take();
  logs.take();
  const { body } = await bench.api.send({ method: "POST", path: "/scans" });
  const ended = await scanEnds(bench, Number(body.scanJobId));
  if (scans.facetOf(ended).status !== "completed") throw new Error(`The scan: ${JSON.stringify(ended)}`);
  await logs.until("deliver-alert", alerts);
  // What ended it comes to its own end.
  await setTimeout(1_000);
  const { readUnits, writeUnits } = bench.meter.take();
  const { runs, bytes: logBytes } = logs.take((name) => !scheduled.has(name));
  return { readUnits, writeUnits, runs, logBytes };
};

/** A scan that finds nothing new and tells one webhook so. */
const measureDailyScan = async (
  database: Database,
  hibp: HibpServer,
  scheduled: ReadonlySet<string>,
): Promise<Work> => {
  const receiver = await startReceiver();
  const bench = await startBench(database, {
    hibpUrl: hibp.url,
    countsWorkers: true,
    further: ["--allow-origin", receiver.origin],
  });
  try {
    const { status } = await bench.api.send({
      method: "POST",
      path: "/alert-configs",
      body: { channel: "webhook", config: { url: `${receiver.origin}/hook` }, notifyOnScanComplete: true },
    });
    if (status !== 201) throw new Error(`POST /alert-configs answered ${status}`);
    return await measureScan(bench, { scheduled, alerts: 1 });
  } finally {
    await bench.close();
    await receiver.close();
  }
};

/** The first scan of addresses that were just imported. */
const measureFirstScan = async (
  size: Size,
  hibp: HibpServer,
  scheduled: ReadonlySet<string>,
  { progress }: Context,
): Promise<Work> => {
  const database = await makeDatabase(`cost-new-${size.addresses}`, size, { progress, isScanned: false });
  const bench = await startBench(database, { hibpUrl: hibp.url, countsWorkers: true });
  try {
    progress(`cost of ${count(size.addresses)} addresses: the first scan`);
    return await measureScan(bench, { scheduled, alerts: 0 });
  } finally {
    await bench.close();
  }
};

type AverageCall = {
  readUnits: number;
  writeUnits: number;
  sentBytes: number;
  gigabyteSeconds: number;
  logBytes: number;
  /** Of an instance's start. */
  startGigabyteSeconds: number;
};

const averageOfCalls = async (bench: Bench, logs: Logs): Promise<AverageCall> => {
  const average = { readUnits: 0, writeUnits: 0, sentBytes: 0, gigabyteSeconds: 0, logBytes: 0 };
  const starts: number[] = [];
  const { body } = await bench.api.send({ method: "GET", path: "/breaches?acknowledged=false&limit=20" });
  const open = (body.breaches as { id: number }[]).map(({ id }) => id);
  const timedCalls = 8;
  for (const { share, call, function: name } of mix) {
    const next = (): Call => (call.method === "POST" ? { ...call, body: { id: open.pop() } } : call);
    const isTheirs = (each: string): boolean => each === name || each === "authorize";
    const part = share / 100;
    const { readUnits, writeUnits, result } = await bench.measure(next());
    if (result.status !== 200) throw new Error(`${call.path} answered ${result.status}`);
    const first = logs.take(isTheirs).runs.map(({ startGigabyteSeconds }) => startGigabyteSeconds);
    starts.push(...first.filter((each) => each > 0));
    for (let times = 0; times < timedCalls; times++) await bench.api.send(next());
    const { runs, bytes } = logs.take(isTheirs);
    average.readUnits += part * readUnits;
    average.writeUnits += part * writeUnits;
    average.sentBytes += part * Buffer.byteLength(JSON.stringify(result.body));
    average.gigabyteSeconds += (part * gigabyteSeconds(runs)) / timedCalls;
    average.logBytes += (part * bytes) / timedCalls;
  }
  const startGigabyteSeconds = starts.reduce((sum, each) => sum + each, 0) / starts.length;
  return { ...average, startGigabyteSeconds };
};

/** Units for each address that is imported. */
const averageOfImport = async (bench: Bench): Promise<{ readUnits: number; writeUnits: number }> => {
  const preview = await bench.measure(previewing(0));
  const commit = await bench.measure(committing(preview.result));
  if (commit.result.status !== 200) throw new Error(`The import answered ${commit.result.status}`);
  return {
    readUnits: (preview.readUnits + commit.readUnits) / rowCount,
    writeUnits: (preview.writeUnits + commit.writeUnits) / rowCount,
  };
};

const measureCalls = async (database: Database, hibp: HibpServer) => {
  const bench = await startBench(database, { hibpUrl: hibp.url });
  try {
    // A thousand calls a day mostly come to instances that were just started, and know no breach.
    await setCatalog(bench, "changing");
    const call = await averageOfCalls(bench, await openLogs(bench));
    return { call, imported: await averageOfImport(bench) };
  } finally {
    await bench.close();
  }
};

/** Arithmetic and dollars of units of the table. */
const costOfUnits = (units: { readUnits: number; writeUnits: number }): [string, number] => [
  `${show(units.readUnits)} read × $0.125 + ${show(units.writeUnits)} write × $0.625`,
  units.readUnits * price.readUnit + units.writeUnits * price.writeUnit,
];

/** Of a scan: its units, its functions' runs and time, and their messages. */
const costOfScan = (scan: Work, queueFunctions: readonly string[]): [string, number] => {
  const [units, dollars] = costOfUnits(scan);
  const { runs } = scan;
  const requests = requestsOfMessage * runs.filter(({ name }) => queueFunctions.includes(name)).length;
  return [
    `(${units} + ${count(runs.length)} runs × $0.20 + ${show(gigabyteSeconds(runs))} GB-s × $13.33 + ${count(requests)} queue requests × $0.40)/million`,
    dollars +
      runs.length * price.invocation +
      gigabyteSeconds(runs) * price.gigabyteSecond +
      requests * price.queueRequest,
  ];
};

/** Runs in a month of each function that schedules and calls invoke. */
const runsByFunction = (hour: Work): Map<string, number> => {
  const runs = new Map([
    ["authorize", calls],
    ...mix.map(({ function: name, share }) => [name, (calls * share) / 100] as const),
  ]);
  for (const { name } of hour.runs) runs.set(name, (runs.get(name) ?? 0) + hours);
  return runs;
};

const costOf = async (addresses: number, hour: Work, context: Context): Promise<Table> => {
  const { progress } = context;
  const size = { addresses, findings: 3 * addresses };
  const scheduled = new Set(hour.runs.map(({ name }) => name));
  const database = await makeDatabase(`cost-${addresses}`, size, { progress });
  const hibp = await hibpFor(size, database.seeded.domains);
  try {
    progress(`cost of ${count(addresses)} addresses: a daily scan`);
    const scan = await measureDailyScan(database, hibp, scheduled);
    progress(`cost of ${count(addresses)} addresses: calls`);
    const { call, imported } = await measureCalls(database, hibp);
    const firstScan = await measureFirstScan(size, hibp, scheduled, context);

    const { alarms, queueFunctions } = resourcesOf(await assembly());
    const gigabytes = storedBytes(seed(size).rows()) / 2 ** 30;
    const polls = queueFunctions.length * pollsAMinute * minutes;
    const syncs = hour.runs.filter(({ name }) => name === "sync-catalog").length;
    const plans = scan.runs.filter(({ name }) => name === "plan-scan").length;
    const keptTimes = minutes / keptMinutes;
    const runs = [...runsByFunction(hour).values()];
    const seldom = runs.filter((each) => each <= keptTimes).reduce((sum, each) => sum + each, 0);
    const often = runs.filter((each) => each > keptTimes).length;
    const traces = calls + hours * hour.runs.length + days * scan.runs.length;
    const logged =
      (calls * (call.logBytes + accessLogBytes) + hours * hour.logBytes + days * scan.logBytes) / 2 ** 30;
    const sent = (calls * call.sentBytes) / 2 ** 30;
    const [hourUnits, hourUnitDollars] = costOfUnits(hour);
    const [callUnits, callUnitDollars] = costOfUnits(call);
    const [scanArithmetic, scanDollars] = costOfScan(scan, queueFunctions);
    const [firstArithmetic, firstDollars] = costOfScan(firstScan, queueFunctions);
    const [importUnits, importUnitDollars] = costOfUnits(imported);
    const functionDollars =
      price.gigabyteSecond *
      (hours * gigabyteSeconds(hour.runs) + calls * call.gigabyteSeconds + days * gigabyteSeconds(scan.runs));
    const month: Line[] = [
      [
        "Queues, polled while idle",
        `${queueFunctions.length} queues × ${pollsAMinute} polls × ${count(minutes)} minutes × $0.40/million`,
        polls * price.queueRequest,
      ],
      ["Alarms", `${alarms} metrics × $0.10`, alarms * price.alarmMetric],
      [
        "Secret (the HIBP key)",
        `$0.40 + (${hours} hours × ${syncs} syncs + ${days} scans × ${plans} runs of plan-scan) × $0.05/10,000`,
        price.secret + (hours * syncs + days * plans) * price.secretRequest,
      ],
      [
        "Schedules, quiet",
        `${hours} hours × (${hour.runs.length} runs × ($1.00 + $0.20) + ${show(gigabyteSeconds(hour.runs))} GB-s × $13.33 + ${hourUnits})/million`,
        hours *
          (hour.runs.length * (price.schedule + price.invocation) +
            gigabyteSeconds(hour.runs) * price.gigabyteSecond +
            hourUnitDollars),
      ],
      [
        "Encryption of the table (KMS requests)",
        `(${often} roles × ${count(keptTimes)} times ${keptMinutes} minutes + ${count(seldom)} runs of roles that work less often) × $0.03/10,000`,
        (often * keptTimes + seldom) * price.keyRequest,
      ],
      [
        "Table and its backups",
        `${show(gigabytes)} GB × ($0.25 + $0.20)`,
        gigabytes * (price.storedGigabyte + price.backedUpGigabyte),
      ],
      ["API Gateway", `${count(calls)} calls × $3.50/million`, calls * price.apiRequest],
      [
        "Functions of the API",
        `${count(calls)} × (2 runs × $0.20 + ${show(call.gigabyteSeconds)} GB-s × $13.33)/million`,
        calls * (2 * price.invocation + call.gigabyteSeconds * price.gigabyteSecond),
      ],
      [
        "Cold starts",
        `${count(seldom)} runs of functions that work less often than every ${keptMinutes} minutes × ${show(call.startGigabyteSeconds)} GB-s × $13.33/million`,
        seldom * call.startGigabyteSeconds * price.gigabyteSecond,
      ],
      ["Table units of the API", `${count(calls)} × (${callUnits})/million`, calls * callUnitDollars],
      ["Daily scans, each with an alert to one webhook", `${days} × ${scanArithmetic}`, days * scanDollars],
      [
        "Logs, kept for three months",
        `${show(logged)} GB × ($0.50 + ${logMonths} × $0.03)`,
        logged * (price.loggedGigabyte + logMonths * price.keptLogGigabyte),
      ],
      ["Traces", `${count(traces)} × $5.00/million`, traces * price.trace],
      ["Data sent", `${show(sent)} GB × $0.09`, sent * price.sentGigabyte],
    ];
    const once: Line[] = [
      [
        "Once: the import of the addresses",
        `${count(addresses)} × (${importUnits})/million`,
        addresses * importUnitDollars,
      ],
      ["Once: their first scan", firstArithmetic, firstDollars],
    ];
    // Of the dollars that are shown, so that they add up.
    const total = month.reduce((sum, [, , dollars]) => sum + Number(dollars.toFixed(3)), 0);
    return {
      title: `A month of ${count(addresses)} addresses, ${count(size.findings)} findings`,
      columns: ["Item", "Arithmetic", "Dollars"],
      rows: [...month, ["A month", "", total] satisfies Line, ...once].map(
        ([item, arithmetic, dollars]): Cell[] => [item, arithmetic, dollars.toFixed(3)],
      ),
      notes: [
        "Daily scans that find nothing new and 1,000 API calls a day: 50 % findings that are not acknowledged, 20 % e-mails, 15 % scans, 10 % activity, 5 % acknowledgments. us-east-1 on demand, no free tier (which would take most of the first lines), without the HIBP subscription.",
        `Measured: units, runs and their logs, stored bytes (the seeded rows by DynamoDB's rules for sizes, their copies in the index included), bytes sent. The schedules' are those of an hour in which nothing is due, with a catalog of ${count(listedBreaches)} breaches. Alarms, queues and memory are read from the template.`,
        `Time is this machine's. Lambda gives 256 MB a seventh of a core: were all of it computing, it would add ${dollarsOf(functionDollars * (1 / coreShare - 1))} a month.`,
        `Assumed: five long polls of 20 seconds at a time for each queue; an instance ends ${keptMinutes} minutes after its last run and the table's key is asked for again then, by each role; the HIBP key is read anew at each sync and scan, since it is kept for five minutes; access logs of ${accessLogBytes} bytes a call; a trace for each call and each run; answers without compression.`,
        `Left out, less than 1 % each: calls and functions of the import; the schedule of the organization; further scans when the catalog changes (${dollarsOf(scanDollars)} each) and what they find; rows that expire; data sent to HIBP and webhooks; the code in S3.`,
      ],
    };
  } finally {
    await hibp.close();
  }
};

const count = (value: number): string => Math.round(value).toLocaleString("en-US");

const show = (value: number): string => value.toLocaleString("en-US", { maximumSignificantDigits: 3 });

const dollarsOf = (dollars: number): string => `$${show(dollars)}`;

export const cost: Arm = {
  name: "cost",
  about: "What a month costs, line by line",
  run: async (context) => {
    const hour = await measureQuietHour(context);
    const tables: Table[] = [];
    for (const addresses of [10, 1_000, 100_000]) tables.push(await costOf(addresses, hour, context));
    return tables;
  },
};
