import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { inventedBreach } from "../test/service/breaches.ts";
import { type HibpServer, startHibpServer } from "../test/service/hibp-server.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { quantile, round, verdict } from "./measure.ts";
import { memoryTable, watchMemory } from "./memory.ts";
import { assembly, type Bench, makeDatabase, startBench } from "./service.ts";
import type { Answered, Asked, Tenant, TenantScan } from "./tenants.ts";

const count = 2_000;
/** The hour that a new breach's scans are spread over is three minutes: as many scans a second as of 40,000 organizations. */
const speed = 20;
const staggerSeconds = 3600 / speed;
/** Two syncs of the catalog, the stagger and a sweep, and then as long again. */
const patienceSeconds = 2 * (2 * (900 / speed) + staggerSeconds + 300 / speed);
const newBreach = "Everybody";

/** A rate of the subscription, and so many addresses that it takes more than a minute. */
const rates = [
  { rpm: 10, addresses: 20 },
  { rpm: 1_000, addresses: 2_000 },
];
const maximumSeconds = 900;

const lookAgainMilliseconds = 2_000;

let databases = 0;

type Ask = {
  (asked: { create: Tenant[] }): Promise<{ ids: number[] }>;
  (asked: { start: number }): Promise<{ scanId: number }>;
  (asked: { scansOf: number[] }): Promise<{ scans: (TenantScan | undefined)[] }>;
};

/** Megabytes of each function, the most in any part of this arm. */
const peaks = new Map<string, number>();

/** The service with a process that makes tenants, and an upstream of this rate. */
const withTenants = async <R>(
  { hibp, further }: { hibp: Partial<HibpServer>; further: string[] },
  progress: Context["progress"],
  act: (bench: Bench, ask: Ask, hibp: HibpServer) => Promise<R>,
): Promise<R> => {
  const size = { findings: 0, addresses: 1 };
  const database = await makeDatabase(`tenants-${++databases}`, size, { progress, isScanned: false });
  const server = await startHibpServer();
  Object.assign(server, hibp);
  const bench = await startBench(database, {
    hibpUrl: server.url,
    countsWorkers: true,
    further: ["--no-demo", ...further],
  });
  const memory = watchMemory([bench.service.process.pid ?? 0]);
  const child = fork(join(import.meta.dirname, "tenants.ts"), [new URL(bench.service.apiUrl).port]);
  try {
    await once(child, "message");
    const exit = once(child, "exit").then(() => {
      throw new Error("The process of tenants ended");
    });
    const ask = async (asked: Asked): Promise<Answered> => {
      child.send(asked);
      const [answered] = (await Promise.race([once(child, "message"), exit])) as [Answered];
      return answered;
    };
    return await act(bench, ask as Ask, server);
  } finally {
    child.kill();
    for (const [name, megabytes] of memory.stop().functions)
      peaks.set(name, Math.max(megabytes, peaks.get(name) ?? 0));
    await bench.close();
    await server.close();
  }
};

const isOver = (scan: TenantScan | undefined): scan is TenantScan =>
  scan?.status === "completed" || scan?.status === "failed";

const domainOf = (index: number): string => `tenant${index}.example`;

/** A breach that every organization has an address in appears in the catalog. */
const measureNews = (progress: Context["progress"]): Promise<Table> => {
  const tenants = Array.from({ length: count }, (_, index): Tenant => {
    const domain = domainOf(index);
    return { domain, addresses: [`a@${domain}`] };
  });
  const covered = tenants.map(({ domain }) => domain);
  const hibp = { rpm: 1_000, covered };
  return withTenants(
    { hibp, further: ["--speed", String(speed)] },
    progress,
    async (bench, ask, upstream) => {
      progress(`${count.toLocaleString("en-US")} organizations: making them`);
      const { ids } = await ask({ create: tenants });
      upstream.accounts = Object.fromEntries(covered.map((domain) => [`a@${domain}`, [newBreach]]));
      upstream.requests.length = 0;
      bench.meter.take();
      upstream.catalog = [...upstream.catalog, inventedBreach(newBreach)];

      const searches = () => upstream.requests.filter(({ path }) => path.startsWith("breacheddomain/"));
      const deadline = Date.now() + patienceSeconds * 1000;
      while (searches().length < count && Date.now() < deadline) {
        progress("organizations: scans that a new breach started", searches().length, count);
        await setTimeout(lookAgainMilliseconds);
      }
      await setTimeout(5 * lookAgainMilliseconds);
      const { readUnits, writeUnits, requests } = bench.meter.take();
      const ended = (await ask({ scansOf: ids })).scans.filter(isOver);
      const found = ended.filter(
        ({ status, newBreachesFound }) => status === "completed" && newBreachesFound === 1,
      );
      if (found.length < count) throw new Error(`${found.length} of ${count} organizations were scanned`);
      const starts = found.map(({ createdAt }) => Date.parse(createdAt)).sort((a, b) => a - b);
      const seconds = found.map(
        ({ createdAt, completedAt }) => (Date.parse(completedAt ?? "") - Date.parse(createdAt)) / 1000,
      );
      const spread = ((starts.at(-1) ?? 0) - (starts[0] ?? 0)) / 1000;
      const most = busiestMinute(searches().map(({ at }) => at));
      const rows: Cell[][] = [
        ["Organizations, each with one address on a covered domain", count, ""],
        [
          "Seconds from the first scan's start to the last one's",
          round(spread),
          `stagger: ${staggerSeconds}`,
        ],
        ["Seconds from a scan's start to its end, p50", round(quantile(seconds, 0.5)), ""],
        ["The same, p99", round(quantile(seconds, 0.99)), ""],
        ["Most domain searches in a minute", most, verdict("a minute", most, upstream.rpm)],
        ["Read units of an organization", round(readUnits / count), ""],
        ["Write units of an organization", round(writeUnits / count), ""],
        ["Requests to the table of an organization", round(requests / count), ""],
      ];
      return {
        title: `A new breach and ${count.toLocaleString("en-US")} organizations`,
        columns: ["", "value", "beside"],
        rows,
        notes: [
          `Waiting passes ${speed} times faster than on AWS: that is as many scans a second as of ${(count * speed).toLocaleString("en-US")} organizations there. Each scan finds the breach and records it.`,
          "Units: everything between functions and table from the catalog's change on, syncs and sweeps included.",
        ],
      };
    },
  );
};

/** A scan of addresses of a domain that the subscription does not cover, as fast as its rate lets it. */
const measureRate = (
  { rpm, addresses }: (typeof rates)[number],
  progress: Context["progress"],
): Promise<Cell[]> =>
  withTenants({ hibp: { rpm, covered: [] }, further: [] }, progress, async (bench, ask, upstream) => {
    const domain = domainOf(0);
    const { ids } = await ask({
      create: [{ domain, addresses: Array.from({ length: addresses }, (_, index) => `a${index}@${domain}`) }],
    });
    upstream.requests.length = 0;
    bench.meter.take();
    await ask({ start: ids[0] ?? 0 });
    const lookUps = () => upstream.requests.filter(({ path }) => path.startsWith("breachedaccount/"));
    let scan: TenantScan | undefined;
    for (const deadline = Date.now() + maximumSeconds * 1000; !isOver(scan) && Date.now() < deadline; ) {
      progress(`look-ups at ${rpm} requests a minute`, lookUps().length, addresses);
      await setTimeout(lookAgainMilliseconds);
      [scan] = (await ask({ scansOf: ids })).scans;
    }
    if (!isOver(scan) || scan.status !== "completed" || scan.scannedEmails !== addresses) {
      throw new Error(`At ${rpm} requests a minute: ${JSON.stringify(scan)}`);
    }
    const { readUnits, writeUnits } = bench.meter.take();
    const times = upstream.requests.map(({ at }) => at);
    const most = busiestMinute(times);
    const minutes = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 60_000;
    return [
      rpm,
      addresses,
      round(minutes * 60),
      most,
      `${Math.round((100 * times.length) / (minutes * rpm))} %`,
      round(readUnits / addresses),
      round(writeUnits / addresses),
      verdict("a minute", most, rpm),
    ];
  });

/** The most requests that any 60 seconds saw. */
const busiestMinute = (times: readonly number[]): number =>
  times.reduce((most, at, index) => {
    const after = times.findIndex((each) => each >= at + 60_000);
    return Math.max(most, (after < 0 ? times.length : after) - index);
  }, 0);

export const organizations: Arm = {
  name: "organizations",
  about: "Many organizations at once, and the rate of Have I Been Pwned",
  run: async ({ progress }) => {
    const news = await measureNews(progress);
    const rows: Cell[][] = [];
    for (const rate of rates) rows.push(await measureRate(rate, progress));
    return [
      news,
      {
        title: "Look-ups at the rate of the subscription",
        columns: [
          "Requests a minute",
          "Addresses",
          "Seconds",
          "Most in a minute",
          "Of the rate",
          "Read units of an address",
          "Write units of an address",
          "Targets",
        ],
        rows,
        notes: [
          "A domain that the subscription does not cover is looked up address by address. Units contain the sweeps meanwhile, and looking how far it is.",
        ],
      },
      memoryTable({ assembly: await assembly() }, peaks),
    ];
  },
};
