/** What a month costs: measured units times the prices, each line with its arithmetic. */
import { startHibpServer } from "../test/service/hibp-server.ts";
import type { Call } from "./api.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { functionsOf } from "./functions.ts";
import { quantile } from "./measure.ts";
import { scanEnds } from "./operations.ts";
import { accountsOf, upstreamCatalog } from "./seed.ts";
import { assembly, makeDatabase, startBench } from "./service.ts";
import { countResources, tableBytes } from "./stack.ts";

const days = 30;
const minutes = days * 24 * 60;
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
  alarm: 0.1,
  secret: 0.4,
  secretRequest: 0.05 / 10_000,
  keyRequest: 0.03 / 10_000,
  storedGigabyte: 0.25,
  backedUpGigabyte: 0.2,
  loggedGigabyte: 0.5,
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

/** An event source asks its queue in long polls of 20 seconds, five at a time while nothing comes. */
const pollsAMinute = 5 * 3;

/** Runs of the schedules in a minute: re-dispatch, sweep, catalog. */
const scheduledRunsAMinute = 1 + 1 / 5 + 1 / 15;
/** Of one, on average: the due index's shards, mostly empty. */
const unitsOfScheduledRun = { readUnits: 4, writeUnits: 0.1 };
const secondsOfScheduledRun = 0.1;

/** Our line, Lambda's own, of two functions, and the access log's. */
const logBytesOfCall = 2_200;
const logBytesOfRun = 700;

type Line = [item: string, arithmetic: string, dollars: number];

const averageOfCalls = async (bench: Awaited<ReturnType<typeof startBench>>) => {
  const average = { readUnits: 0, writeUnits: 0, bytes: 0, gigabyteSeconds: 0 };
  const { body } = await bench.api.send({ method: "GET", path: "/breaches?acknowledged=false&limit=20" });
  const open = (body.breaches as { id: number }[]).map(({ id }) => id);
  for (const { share, call, function: name } of mix) {
    const next = (): Call => (call.method === "POST" ? { ...call, body: { id: open.pop() } } : call);
    const part = share / 100;
    const { readUnits, writeUnits, result } = await bench.measure(next());
    if (result.status !== 200) throw new Error(`${call.path} answered ${result.status}`);
    const times: number[] = [];
    for (let count = 0; count < 8; count++) times.push((await bench.api.send(next())).milliseconds);
    const megabytes = functionsOf(bench.assembly).get(name)?.megabytes ?? 256;
    average.readUnits += part * readUnits;
    average.writeUnits += part * writeUnits;
    average.bytes += part * JSON.stringify(result.body).length;
    average.gigabyteSeconds += part * (quantile(times, 0.5) / 1000) * (megabytes / 1024);
  }
  return average;
};

const costOf = async (addresses: number, { progress }: Context): Promise<Table> => {
  const size = { addresses, findings: 3 * addresses };
  const stack = countResources(await assembly());
  const database = await makeDatabase(`cost-${addresses}`, size, { progress });
  const hibp = await startHibpServer();
  Object.assign(hibp, {
    accounts: accountsOf(database.seeded),
    catalog: upstreamCatalog(),
    covered: database.seeded.domains,
  });
  try {
    progress(`cost of ${addresses.toLocaleString("en-US")} addresses: calls`);
    let bench = await startBench(database, { hibpUrl: hibp.url });
    const call = await averageOfCalls(bench);
    await bench.close();

    progress(`cost of ${addresses.toLocaleString("en-US")} addresses: a scan`);
    bench = await startBench(database, { hibpUrl: hibp.url, countsWorkers: true });
    const begin = performance.now();
    const started = await bench.api.send({ method: "POST", path: "/scans" });
    await scanEnds(bench, Number(started.body.scanJobId));
    const scanSeconds = (performance.now() - begin) / 1000;
    const scan = bench.meter.take();
    const gigabytes = (await tableBytes(bench.engine.url, bench.assembly)) / 2 ** 30;
    await bench.close();

    const runs = Math.round(minutes * scheduledRunsAMinute);
    const polls = stack.eventSources * pollsAMinute * minutes;
    const logged = (calls * logBytesOfCall + runs * logBytesOfRun) / 2 ** 30;
    const sent = (calls * call.bytes) / 2 ** 30;
    const lines: Line[] = [
      [
        "Queues, polled while idle",
        `${stack.eventSources} queues × ${pollsAMinute} polls × ${count(minutes)} minutes × $0.40/million`,
        polls * price.queueRequest,
      ],
      ["Alarms", `${stack.alarms} × $0.10`, stack.alarms * price.alarm],
      [
        "Secret (the HIBP key)",
        `$0.40 + ${count(2 * days * 24)} requests × $0.05/10,000`,
        price.secret + 2 * days * 24 * price.secretRequest,
      ],
      [
        "Schedules",
        `${count(runs)} runs × ($1.00 + $0.20)/million + ${count(runs)} × ${secondsOfScheduledRun} s × 0.25 GB × $13.33/million + ${count(runs)} × (${unitsOfScheduledRun.readUnits} read × $0.125 + ${unitsOfScheduledRun.writeUnits} write × $0.625)/million`,
        runs *
          (price.schedule +
            price.invocation +
            secondsOfScheduledRun * 0.25 * price.gigabyteSecond +
            unitsOfScheduledRun.readUnits * price.readUnit +
            unitsOfScheduledRun.writeUnits * price.writeUnit),
      ],
      [
        "Encryption of the table (KMS requests)",
        `${count(12 * 24 * days * 3)} × $0.03/10,000`,
        12 * 24 * days * 3 * price.keyRequest,
      ],
      [
        "Table and its backups",
        `${show(gigabytes)} GB × ($0.25 + $0.20)`,
        gigabytes * (price.storedGigabyte + price.backedUpGigabyte),
      ],
      ["API Gateway", `${count(calls)} calls × $3.50/million`, calls * price.apiRequest],
      [
        "Functions of the API",
        `${count(calls)} × 2 × $0.20/million + ${count(calls)} × ${show(call.gigabyteSeconds)} GB-s × $13.33/million`,
        calls * (2 * price.invocation + call.gigabyteSeconds * price.gigabyteSecond),
      ],
      [
        "Table units of the API",
        `${count(calls)} × (${show(call.readUnits)} read × $0.125 + ${show(call.writeUnits)} write × $0.625)/million`,
        calls * (call.readUnits * price.readUnit + call.writeUnits * price.writeUnit),
      ],
      [
        "Daily scans",
        `${days} × (${show(scan.readUnits)} read × $0.125 + ${show(scan.writeUnits)} write × $0.625)/million + ${days} × ${show(scanSeconds)} s × 1 GB × $13.33/million`,
        days *
          (scan.readUnits * price.readUnit +
            scan.writeUnits * price.writeUnit +
            scanSeconds * price.gigabyteSecond),
      ],
      ["Logs", `${show(logged)} GB × $0.50`, logged * price.loggedGigabyte],
      ["Traces", `${count(calls + runs)} × $5.00/million`, (calls + runs) * price.trace],
      ["Data sent", `${show(sent)} GB × $0.09`, sent * price.sentGigabyte],
    ];
    const total = lines.reduce((sum, [, , dollars]) => sum + dollars, 0);
    const rows: Cell[][] = [...lines, ["Total", "", total] as Line].map(([item, arithmetic, dollars]) => [
      item,
      arithmetic,
      Math.round(dollars * 1_000) / 1_000,
    ]);
    return {
      title: `A month of ${addresses.toLocaleString("en-US")} addresses, ${count(size.findings)} findings`,
      columns: ["Item", "Arithmetic", "Dollars"],
      rows,
      notes: [
        "Daily scans that find nothing new and 1,000 API calls a day: 50 % findings that are not acknowledged, 20 % e-mails, 15 % scans, 10 % activity, 5 % acknowledgments.",
        "us-east-1 on demand, no free tier (which would take most of the first lines). Units, stored bytes and bytes sent are measured; time is this machine's. Without the HIBP subscription.",
      ],
    };
  } finally {
    await hibp.close();
  }
};

const count = (value: number): string => Math.round(value).toLocaleString("en-US");

const show = (value: number): string => value.toLocaleString("en-US", { maximumSignificantDigits: 3 });

export const cost: Arm = {
  name: "cost",
  about: "What a month costs, line by line",
  run: async (context) => {
    const tables: Table[] = [];
    for (const addresses of [10, 1_000, 100_000]) tables.push(await costOf(addresses, context));
    return tables;
  },
};
