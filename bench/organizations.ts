import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { type HibpServer, startHibpServer } from "../local/harness/hibp-server.ts";
import { inventedBreach } from "../local/harness/invented-breach.ts";
import type { Arm, Cell, Context, Table } from "./arm.ts";
import { quantile, round, verdict } from "./measure.ts";
import { memoryTable, watchMemory } from "./memory.ts";
import { assembly, type Bench, makeDatabase, startBench } from "./service.ts";
import type { Tenant, TenantAnswer, TenantRequest, TenantScan } from "./tenants.ts";

const count = 2_000;
/** How many times faster time passes. */
const speed = 20;
/** The service spreads the scans that a new breach starts over an hour. */
const staggerSeconds = 3600 / speed;
/** Twice as long as two syncs of the catalog, the stagger and a sweep take. */
const patienceSeconds = 2 * (2 * (900 / speed) + staggerSeconds + 300 / speed);
const newBreach = "Everybody";

/** Rates of subscriptions, each with enough addresses that looking them up takes more than a minute. */
const rates = [
  { rpm: 10, addresses: 20 },
  { rpm: 1_000, addresses: 2_000 },
];
const maximumSeconds = 900;

const lookAgainMilliseconds = 2_000;

let databases = 0;

/** Sends a request to the process of tenants.ts and returns its answer. */
type Ask = {
  (request: { create: Tenant[] }): Promise<{ ids: number[] }>;
  (request: { start: number }): Promise<{ scanId: number }>;
  (request: { scansOf: number[] }): Promise<{ scans: (TenantScan | undefined)[] }>;
};

/** The most megabytes that an instance of each function took in any part of this arm. */
const peaks = new Map<string, number>();

/** Runs `act` with a service, a process that creates tenants in it, and an upstream with these properties. */
const withTenants = async <R>(
  { hibp, furtherOptions }: { hibp: Partial<HibpServer>; furtherOptions: string[] },
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
    furtherOptions: ["--no-demo", ...furtherOptions],
  });
  const memory = watchMemory([bench.service.process.pid ?? 0]);
  const child = fork(join(import.meta.dirname, "tenants.ts"), [new URL(bench.service.apiUrl).port]);
  try {
    await once(child, "message");
    const exit = once(child, "exit").then(() => {
      throw new Error("The process of tenants.ts ended: its error is printed above");
    });
    const ask = async (request: TenantRequest): Promise<TenantAnswer> => {
      child.send(request);
      const [answer] = (await Promise.race([once(child, "message"), exit])) as [TenantAnswer];
      return answer;
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

const hasEnded = (scan: TenantScan | undefined): scan is TenantScan =>
  scan?.status === "completed" || scan?.status === "failed";

const domainOf = (index: number): string => `tenant${index}.example`;

/** A breach appears in the catalog that every organization has an address in. */
const measureNewBreach = (progress: Context["progress"]): Promise<Table> => {
  const tenants = Array.from({ length: count }, (_, index): Tenant => {
    const domain = domainOf(index);
    return { domain, addresses: [`a@${domain}`] };
  });
  const covered = tenants.map(({ domain }) => domain);
  const hibp = { rpm: 1_000, covered };
  return withTenants(
    { hibp, furtherOptions: ["--speed", String(speed)] },
    progress,
    async (bench, ask, upstream) => {
      progress(`${count.toLocaleString("en-US")} organizations: creating them`);
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
      const ended = (await ask({ scansOf: ids })).scans.filter(hasEnded);
      const found = ended.filter(
        ({ status, newBreachesFound }) => status === "completed" && newBreachesFound === 1,
      );
      if (found.length < count)
        throw new Error(
          `Only ${found.length} of ${count} organizations completed a scan that found the breach within ${patienceSeconds} s`,
        );
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
        ["Seconds from a scan's start to its end, p99", round(quantile(seconds, 0.99)), ""],
        ["Most domain searches in a minute", most, verdict("a minute", most, upstream.rpm)],
        ["Read units for each organization", round(readUnits / count), ""],
        ["Write units for each organization", round(writeUnits / count), ""],
        ["Requests to the table for each organization", round(requests / count), ""],
      ];
      return {
        title: `A new breach and ${count.toLocaleString("en-US")} organizations`,
        columns: ["", "Value", "Target"],
        rows,
        notes: [
          `Time passes ${speed} times faster than on AWS, so that as many scans start in a second as with ${(count * speed).toLocaleString("en-US")} organizations there. Each scan finds and records the breach.`,
          "Units and requests: everything between functions and table after the catalog has changed, syncs and sweeps included.",
        ],
      };
    },
  );
};

/** A scan whose addresses are looked up one by one, since the subscription does not cover their domain. */
const measureRate = (
  { rpm, addresses }: (typeof rates)[number],
  progress: Context["progress"],
): Promise<Cell[]> =>
  withTenants({ hibp: { rpm, covered: [] }, furtherOptions: [] }, progress, async (bench, ask, upstream) => {
    const domain = domainOf(0);
    const { ids } = await ask({
      create: [{ domain, addresses: Array.from({ length: addresses }, (_, index) => `a${index}@${domain}`) }],
    });
    upstream.requests.length = 0;
    bench.meter.take();
    await ask({ start: ids[0] ?? 0 });
    const lookUps = () => upstream.requests.filter(({ path }) => path.startsWith("breachedaccount/"));
    let scan: TenantScan | undefined;
    for (const deadline = Date.now() + maximumSeconds * 1000; !hasEnded(scan) && Date.now() < deadline; ) {
      progress(`look-ups at ${rpm} requests a minute`, lookUps().length, addresses);
      await setTimeout(lookAgainMilliseconds);
      [scan] = (await ask({ scansOf: ids })).scans;
    }
    if (!hasEnded(scan) || scan.status !== "completed" || scan.scannedEmails !== addresses) {
      throw new Error(
        `The scan at ${rpm} requests a minute did not complete within ${maximumSeconds} s: ${JSON.stringify(scan)}`,
      );
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

/** The most requests within any 60 seconds. `times`: milliseconds, ascending. */
const busiestMinute = (times: readonly number[]): number =>
  times.reduce((most, at, index) => {
    const after = times.findIndex((each) => each >= at + 60_000);
    return Math.max(most, (after < 0 ? times.length : after) - index);
  }, 0);

export const organizations: Arm = {
  name: "organizations",
  about: "Many organizations at once, and the rate limit of Have I Been Pwned",
  run: async ({ progress }) => {
    const newBreachTable = await measureNewBreach(progress);
    const rows: Cell[][] = [];
    for (const rate of rates) rows.push(await measureRate(rate, progress));
    return [
      newBreachTable,
      {
        title: "Look-ups at the rate limit of the subscription",
        columns: [
          "Requests a minute",
          "Addresses",
          "Seconds",
          "Most in a minute",
          "Part of the rate used",
          "Read units for each address",
          "Write units for each address",
          "Targets",
        ],
        rows,
        notes: [
          "The addresses of a domain that the subscription does not cover are looked up one by one. Units include sweeps during the scan and the benchmark's own reads of its progress.",
        ],
      },
      memoryTable({ assembly: await assembly() }, peaks),
    ];
  },
};
