/**
 * The bill of a month: what the template has and what operations cost, times prices. It uses figures that
 * other arms measure (lists, operations, scans). It assumes how the service is used, and all that a local run
 * cannot tell.
 */
import type { Cell, Table } from "./arm.ts";
import { type Figures, tableOfFigures } from "./figures.ts";
import { dollarsForUnits, price, type Units } from "./prices.ts";
import type { Resources } from "./stack.ts";

const days = 30;
const hours = days * 24;
const minutes = hours * 60;
const calls = days * 1_000;

/** What a dashboard asks for, and an integration that polls for news: percent of the calls by their names. */
const mix: readonly { percent: number; name: string }[] = [
  { percent: 50, name: "GET /breaches" },
  { percent: 20, name: "GET /emails" },
  { percent: 15, name: "GET /scans" },
  { percent: 10, name: "GET /activity" },
  { percent: 5, name: "POST /breaches/acknowledge" },
];

/**
 * Long polls of 20 seconds that an event source keeps open on an idle queue. There are five, or two without a
 * maximum concurrency (AWS Lambda's guide, "Configuring scaling behavior for SQS event source mappings").
 */
const pollsPerMinute = { capped: 5 * 3, uncapped: 2 * 3 };

/** What AWS gives every month, not only in an account's first year, as far as it covers a whole line. */
const alwaysFree = { queueRequests: 1_000_000, alarmMetrics: 10 };

/** A run of a function that a schedule or a request invokes for a moment. */
export const shortRun = { seconds: 0.02, logBytes: 1_000 };
const scheduledRun = { gigabyteSeconds: 0.005, logBytes: 400 };
/** A run that also asks HIBP for the latest breach, for 0.2 seconds with half a gigabyte; every minute. */
const askingRun = { perHour: 60, gigabyteSeconds: 0.1 };
export const accessLogBytes = 300;
/** Months that logs are kept. */
const logMonths = 3;
/** A page of 50, in JSON. */
export const replyBytes = 30_000;
/** Of the table for each address with three findings, as DynamoDB bills them with their copies in indexes. */
const bytesOfAddress = 2_200;

/** `free`: the part of the dollars that an always-free tier covers. */
type Line = { item: string; how: string; dollars: number; free?: number };

/** A deployment and how much it is used; `addresses` 0: not at all. */
export type Use = { name: string; resources: Resources; addresses: number };

const fixedLines = ({ resources }: Use, quietHour: Units): Line[] => {
  const { capped, uncapped } = resources.polledQueues;
  const polls = minutes * (capped * pollsPerMinute.capped + uncapped * pollsPerMinute.uncapped);
  const runs = hours * resources.scheduledRunsPerHour;
  const gigabyteSeconds =
    runs * scheduledRun.gigabyteSeconds + hours * askingRun.perHour * askingRun.gigabyteSeconds;
  const runDollars = runs * (price.schedule + price.invocation) + gigabyteSeconds * price.gigabyteSecond;
  return [
    {
      item: "Queues, polled while idle",
      how:
        `${pollsPerMinute.capped} polls a minute for each with a maximum concurrency, ` +
        `${pollsPerMinute.uncapped} for others`,
      dollars: polls * price.queueRequest,
      free: alwaysFree.queueRequests * price.queueRequest,
    },
    {
      item: "Alarms",
      how: "$0.10 for each metric",
      dollars: resources.alarms * price.alarmMetric,
      free: alwaysFree.alarmMetrics * price.alarmMetric,
    },
    {
      item: "Schedules while nothing is due",
      how: `${resources.scheduledRunsPerHour} runs an hour, and their units as measured`,
      dollars: runDollars + hours * dollarsForUnits(quietHour),
      free: runDollars,
    },
  ];
};

const logLine = ({ resources, addresses }: Use): Line => {
  const used = addresses > 0 ? calls * (accessLogBytes + 2 * shortRun.logBytes) : 0;
  const gigabytes = (hours * resources.scheduledRunsPerHour * scheduledRun.logBytes + used) / 2 ** 30;
  const dollars = gigabytes * (price.loggedGigabyte + logMonths * price.keptLogGigabyte);
  return {
    item: "Logs, kept for three months",
    how: "$0.50 and three times $0.03 a GB",
    dollars,
    free: dollars,
  };
};

const useLines = (addresses: number, figures: Figures): Line[] => {
  const findings =
    `Lists: ${addresses.toLocaleString("en-US")} findings of ${addresses.toLocaleString("en-US")} ` +
    "addresses";
  const tables = [
    tableOfFigures(figures, "lists", findings),
    tableOfFigures(figures, "cost", titleOfOperations),
  ];
  const dollarsOf = (name: string): number => (calls / 1e6) * numberOf(tables, name, "$/million");
  const dollarsOfCalls = mix.reduce((sum, { percent, name }) => sum + (percent / 100) * dollarsOf(name), 0);
  const daily = scanDollars(figures, "Nothing new", addresses);
  const gigabytes = (addresses * bytesOfAddress) / 2 ** 30;
  const sent = ((calls * replyBytes) / 2 ** 30) * price.sentGigabyte;
  return [
    {
      item: "Metric of refused requests",
      how: "if some are refused in every hour",
      dollars: price.customMetric,
      free: price.customMetric,
    },
    {
      item: "API calls, 1,000 a day",
      how: "API Gateway, functions, and units as measured",
      dollars: dollarsOfCalls,
      free: calls * 2 * price.invocation,
    },
    { item: "Data sent", how: "$0.09 a GB", dollars: sent, free: sent },
    { item: "Daily scans", how: "units as measured", dollars: days * daily },
    {
      item: "Table and its backups",
      how: "$0.25 and $0.20 a GB",
      dollars: gigabytes * (price.storedGigabyte + price.backedUpGigabyte),
      free: gigabytes * price.storedGigabyte,
    },
  ];
};

/** What is paid once, before the first month. */
const onceLine = (addresses: number, figures: Figures): Line => {
  const operations = [tableOfFigures(figures, "cost", titleOfOperations)];
  const imported = ["preview", "commit"].reduce(
    (sum, step) => sum + numberOf(operations, `POST /emails/import/${step}, 500 addresses`, "$/million"),
    0,
  );
  const dollars = (addresses / 500) * (imported / 1e6) + scanDollars(figures, "First scan", addresses);
  return { item: "Once: import and first scan", how: "units as measured", dollars };
};

export const titleOfOperations = "Operations with 1,000 findings of 1,000 addresses";

export const numberOf = (tables: readonly Table[], row: string, column: string): number => {
  for (const { columns, rows } of tables) {
    const cells = rows.find(([name]) => String(name) === row);
    if (cells !== undefined) return Number(cells[columns.indexOf(column)]);
  }
  throw new Error(`Nothing was measured of "${row}"`);
};

/** Of a scan of 100,000 addresses, in proportion. */
const scanDollars = (figures: Figures, scan: string, addresses: number): number =>
  numberOf([tableOfFigures(figures, "scans", "Scans of 100,000 addresses")], scan, "Dollars of units") *
  (addresses / 100_000);

/** `quietHour`: units of what the schedules do in an hour in which nothing is due. */
export const monthTable = (uses: readonly Use[], quietHour: Units, figures: Figures): Table => {
  const bills = uses.map((use) => {
    const used = use.addresses === 0 ? [] : useLines(use.addresses, figures);
    const lines = [...fixedLines(use, quietHour), logLine(use), ...used];
    const total = lines.reduce((sum, { dollars }) => sum + dollars, 0);
    const free = lines.reduce((sum, line) => sum + Math.min(line.dollars, line.free ?? 0), 0);
    return [
      ...lines,
      { item: "A month", how: "", dollars: total },
      { item: "A month, always-free tiers taken off", how: "", dollars: total - free },
      ...(use.addresses === 0 ? [] : [onceLine(use.addresses, figures)]),
    ];
  });
  const longest = bills.reduce((one, other) => (other.length > one.length ? other : one));
  return {
    title: "A month",
    columns: ["Item", ...uses.map(({ name }) => name), "How"],
    rows: longest.map(({ item, how }): Cell[] => [
      item,
      ...bills.map((lines) => lines.find((line) => line.item === item)?.dollars.toFixed(2) ?? null),
      how,
    ]),
    notes: [
      "us-east-1 on demand, before free tiers unless said, and without the HIBP subscription. A " +
        "scan a day that finds nothing new; calls are 50 % findings, 20 % e-mails, 15 % scans, 10 " +
        "% activity and 5 % acknowledgments.",
      `Assumed: a scheduled run takes ${scheduledRun.gigabyteSeconds} GB-s, ` +
        `${askingRun.gigabyteSeconds} more when it asks HIBP for the latest breach, and logs ` +
        `${scheduledRun.logBytes} bytes; a page has ${replyBytes / 1000} KB, without compression; ` +
        `an address with its findings takes ${bytesOfAddress} bytes of the table.`,
    ],
  };
};

/** The authorizer's, for a request that it refuses. */
const refusedUnits = { readUnits: 2, writeUnits: 1 };
/** The authorizer's line about a request that it refuses. */
const refusalBytes = 400;
/** The line that Lambda logs of the error by which the authorizer refuses. */
const thrownBytes = 700;
/** A run of the authorizer that remembers the address. */
const refusingSeconds = 0.003;
const secondsOfDay = 86_400;

/** What it costs when somebody sends as many requests to every method as API Gateway lets through. */
export const floodTable = ({ requestsPerSecond, endpointMegabytes, largestPageFile }: Resources): Table => {
  const dollarsOf = (seconds: number, logBytes: number, bytesSent: number): number =>
    price.invocation +
    seconds * (endpointMegabytes / 1024) * price.gigabyteSecond +
    ((accessLogBytes + logBytes) / 2 ** 30) * price.loggedGigabyte +
    (bytesSent / 2 ** 30) * price.sentGigabyte;
  const unauthenticated =
    dollarsOf(shortRun.seconds, refusalBytes + thrownBytes, 200) + dollarsForUnits(refusedUnits);
  const limited = dollarsOf(refusingSeconds, 0, 300);
  const served = (bytesSent: number): number =>
    price.apiRequest + dollarsOf(shortRun.seconds, shortRun.logBytes, bytesSent);
  const { authorized, files, page, scim } = requestsPerSecond;
  // API Gateway charges them, since no authorizer refuses them.
  const withoutToken = served(300) + dollarsForUnits({ readUnits: 1, writeUnits: 1 });
  const row = (kind: string, ...parts: [rate: number, dollars: number][]): Cell[] => {
    const rate = parts.reduce((sum, [each]) => sum + each, 0);
    const dollars = parts.reduce((sum, [each, dollarsOfEach]) => sum + each * dollarsOfEach, 0);
    return [kind, rate.toFixed(1), ((1e6 * dollars) / rate).toFixed(1), (secondsOfDay * dollars).toFixed(2)];
  };
  const ofOneAddress: [number, number] = [authorized, limited];
  const ofPage: [number, number][] = [
    [files, served(largestPageFile)],
    [page, served(300)],
  ];
  return {
    title: "A day of a flood",
    columns: ["Requests", "Requests a second", "Dollars a million", "Dollars a day"],
    rows: [
      row("from many addresses, without a credential (401)", [authorized, unauthenticated]),
      row("from one address, beyond its limit (429)", ofOneAddress),
      row("to SCIM, from many addresses, with made-up tokens (401)", [scim, withoutToken]),
      row("for the largest file of the page, not compressed", ...ofPage),
      row("from one address, the last two together", ofOneAddress, ...ofPage),
    ],
    notes: [
      "Of each kind as many as the limits of all methods together let through; requests beyond " +
        "them cost a line of the access log and the bytes of the answer.",
    ],
  };
};
