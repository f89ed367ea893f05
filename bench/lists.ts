import { cursorOf, type Place } from "../shared/findings/feed/cursor.ts";
import type { Call } from "./api.ts";
import type { Cell, Context, Run, Table } from "./arm.ts";
import {
  type Counted,
  count,
  countedCells,
  countedColumns,
  cpuOf,
  dollarsOf,
  type Measuring,
  round,
  verdict,
} from "./measure.ts";
import { dollarsNote } from "./prices.ts";
import { addressOf } from "./seed/addresses.ts";
import { type Seeded, sizeOf } from "./seed/seed.ts";
import { bulkScan, secondScan, smallScans } from "./seed/shape.ts";
import { type Bench, makeDatabase, startBench } from "./service.ts";

/** `function`: its name in functions/routes.ts or functions/dashboard-routes.ts. */
type Page = Measuring & { function: string };

const page = (api: "v1" | "dashboard", endpoint: string, path: string, offset = 0): Page => {
  const at = offset === 0 ? "" : ` at ${offset.toLocaleString("en-US")}`;
  const paged = `${path}${path.includes("?") ? "&" : "?"}limit=50&offset=${offset}`;
  const call: Call = { method: "GET", path: paged, ...(api === "dashboard" && { asUser: true }) };
  return {
    name: `GET ${path}${at}${api === "dashboard" ? " of the dashboard" : ""}`,
    function: endpoint,
    call: () => call,
    status: 200,
  };
};

/** Pages of 50 of every list: its beginning, its middle, and filters that match fewer and fewer members. */
const pagesOf = ({ org, findings, addresses, activityCount }: Seeded): Page[] => {
  const breaches = (path: string, offset?: number) => page("v1", "list-breaches", path, offset);
  const emails = (path: string, offset?: number) => page("v1", "list-emails", path, offset);
  const scans = (path: string, offset?: number) => page("v1", "list-scans", path, offset);
  const activity = (path: string, offset?: number) => page("v1", "list-activity", path, offset);
  const ofDashboard = (path: string) => page("dashboard", "list-findings", path);
  const searching = (text: string) => page("dashboard", "find-emails", `/emails?q=${text}`);
  const middle = (count: number): number => Math.floor(count / 2);
  return [
    breaches("/breaches"),
    breaches("/breaches", middle(findings)),
    breaches("/breaches?acknowledged=true"),
    breaches("/breaches?acknowledged=true", middle(middle(findings))),
    breaches(`/breaches?scanId=${smallScans.at(-1)}`),
    breaches(`/breaches?scanId=${secondScan}&acknowledged=true`),
    breaches(`/breaches?scanId=${bulkScan}&acknowledged=false`),
    emails("/emails"),
    emails("/emails", addresses - 50),
    emails("/emails?domainId=1"),
    emails("/emails?domainId=3"),
    emails("/emails?isActive=false"),
    emails("/emails?breached=true&order=worst"),
    searching(addressOf(middle(addresses))),
    searching("one.seeded"),
    scans("/scans"),
    scans("/scans?status=failed"),
    activity("/activity"),
    activity("/activity?category=alerts"),
    { ...page("dashboard", "get-overview", "/overview"), call: () => overview },
    ofDashboard("/findings"),
    ofDashboard("/findings?domainId=3"),
    ofDashboard("/findings?breachId=7"),
    ofDashboard("/findings?emailId=17"),
    ofDashboard("/findings?order=severity"),
    ofDashboard("/findings?severity=critical,high&acknowledged=false&domainId=3&order=severity"),
    page("dashboard", "list-found-breaches", "/breaches"),
    feed(", 100 findings from the middle", org, { finding: middle(findings), entry: activityCount }),
    feed(", 100 log entries after all findings", org, {
      finding: 2 * findings,
      entry: middle(activityCount),
    }),
    feed(", nothing new", org, { finding: 2 * findings, entry: 2 * activityCount }),
  ];
};

/** A page of the feed; `where` names the place. */
const feed = (where: string, org: number, place: Place): Page => {
  const call: Call = { method: "GET", path: `/feed?limit=100&after=${cursorOf(org, place)}` };
  return { ...page("v1", "read-feed", `/feed${where}`), call: () => call };
};

const overview = { method: "GET", path: "/overview", asUser: true } as const;

type CountedPage = { page: Page; counted: Counted };

/** Counts each page on an instance that has answered it before, and has the page's breaches in memory. */
export const countPages = async (bench: Bench): Promise<CountedPage[]> => {
  const pages: CountedPage[] = [];
  for (const page of pagesOf(bench.seeded)) {
    await bench.api.send(page.call());
    pages.push({ page, counted: await count(bench, page) });
  }
  return pages;
};

export const pageColumns = ["Page of 50", ...countedColumns];

export const pageCells = ({ page, counted }: CountedPage): Cell[] => [page.name, ...countedCells(counted)];

/** The title of the table of an organization with this many findings. */
export const titleOfPages = ({ findings, addresses }: Pick<Seeded, "findings" | "addresses">): string =>
  `Lists: ${findings.toLocaleString("en-US")} findings of ${addresses.toLocaleString("en-US")} addresses`;

const targetCpuMilliseconds = 20;
const mostTrips = 5;

/** The most read units that a page of a whole list may take, by the number of findings at most. */
const mostOfWhole = (findings: number): number => (findings > 100_000 ? 60 : 40);
const mostOfFiltered = 1_000;

const measureSize = async (size: number, { progress }: Context): Promise<Table> => {
  const database = await makeDatabase(`lists-${size}`, sizeOf(size), { progress });
  const bench = await startBench(database);
  try {
    progress(`lists: counting pages at ${size.toLocaleString("en-US")} findings`);
    const counted = await countPages(bench);
    const rows: Cell[][] = [];
    for (const [index, each] of counted.entries()) {
      progress(`lists: timing pages at ${size.toLocaleString("en-US")} findings`, index, counted.length);
      const cpu = await cpuOf(bench, each.page.function, each.page.call);
      const isWhole = !/\?|dashboard|feed/.test(each.page.name);
      const most = isWhole ? mostOfWhole(size) : mostOfFiltered;
      rows.push([
        ...pageCells(each),
        round(cpu),
        round(dollarsOf(bench, each.counted)),
        [
          verdict("round trips", each.counted.trips, mostTrips),
          verdict("read", each.counted.readUnits, most),
          verdict("CPU", cpu, targetCpuMilliseconds),
        ].join(", "),
      ]);
    }
    return {
      title: titleOfPages(bench.seeded),
      columns: [...pageColumns, "CPU ms", "$/million", "Targets"],
      rows,
      notes: [
        "Round trips and units are those between functions and table for the whole request, the " +
          "authorizer's included, of an instance that has answered the page before.",
        "CPU ms: of the function's process for one warm call, on this machine. The rows of " +
          "replies have their attributes in one order: the engine shuffles them, which costs V8 " +
          "several times the CPU time and which DynamoDB has no reason to do.",
        dollarsNote,
      ],
    };
  } finally {
    await bench.close();
  }
};

export const run: Run = async (context) => {
  const tables: Table[] = [];
  for (const size of context.sizes) tables.push(await measureSize(size, context));
  return tables;
};
