/** The bill of a month: measurements times prices, each line with its arithmetic. */
import type { Cell, Table } from "../arm.ts";
import { dollarsForUnits, price, type Units } from "../prices.ts";
import type { Size } from "../seed/shape.ts";
import type { Resources } from "../stack.ts";
import {
  accessLogBytes,
  alwaysFree,
  calls,
  catalogSize,
  coreShare,
  days,
  hours,
  keptMinutes,
  logMonths,
  minutes,
  mix,
  pollsPerMinute,
  requestsPerMessage,
} from "./assumptions.ts";
import { gigabyteSecondsOf, type Measurements, type Work } from "./measurements.ts";

/** `free`: the part of the dollars that an always-free tier covers. */
type Line = [item: string, arithmetic: string, dollars: number, free?: number];

/** `quietHour`: what the schedules do in an hour in which nothing is due. */
export const monthTable = (size: Size, quietHour: Work, measured: Measurements): Table => {
  const { dailyScan, call } = measured;
  const [, dailyScanDollars] = costOfScan(dailyScan, measured.resources.queueFunctions);
  const month: Line[] = [
    ...fixedLines(quietHour, measured.resources, { syncs: syncsOf(quietHour), plans: plansOf(dailyScan) }),
    ...keyAndStorageLines(quietHour, measured),
    ...callLines(quietHour, measured),
    ...scanLines(measured),
    ...observabilityLines(quietHour, measured),
    dataLine(measured),
  ];
  const functionDollars =
    price.gigabyteSecond *
    (hours * gigabyteSecondsOf(quietHour.runs) +
      calls * call.gigabyteSeconds +
      days * gigabyteSecondsOf(dailyScan.runs));
  return {
    title: `A month of ${count(size.addresses)} addresses, ${count(size.findings)} findings`,
    columns: ["Item", "Arithmetic", "Dollars"],
    rows: [...month, ...totals(month, "A month"), ...onceLines(size, measured)].map(asRow),
    notes: [
      "A scan a day that finds nothing new, and 1,000 API calls a day: 50 % unacknowledged findings, 20 % e-mails, 15 % scans, 10 % activity, 5 % acknowledgments. us-east-1 on demand, without free tiers unless said, and without the HIBP subscription.",
      `Measured: units, runs and their logs, stored bytes (the seeded rows and their copies in the index, by DynamoDB's rules for sizes), sent bytes. The schedules are those of an hour in which nothing is due, with a catalog of ${count(catalogSize)} breaches. Alarms, queues and memory are read from the template.`,
      `GB-s are of this machine. Lambda gives a function with 256 MB a seventh of a core: if all measured time were computing, Lambda would cost ${dollarsOf(functionDollars * (1 / coreShare - 1))} a month more.`,
      `Assumed: an event source has five long polls of 20 seconds open on its idle queue, and two if it has no maximum concurrency; an idle instance ends ${keptMinutes} minutes after its last run; each sync and each scan reads the HIBP key anew, which instances keep for five minutes; an access log of ${accessLogBytes} bytes a call; a request with 401 or 429 in every hour, so that their metric is charged all month; a trace for each call; answers without compression.`,
      `Left out, less than 1 % each: API calls and functions of the import; the organization's own schedule; further scans when the catalog changes (${dollarsOf(dailyScanDollars)} each) and their findings; rows that expire; data sent to HIBP and webhooks; the code in S3.`,
    ],
  };
};

const asRow = ([item, arithmetic, dollars]: Line): Cell[] => [item, arithmetic, dollars.toFixed(3)];

/** The sum of lines, and what is left of it with the always-free tiers. They add up dollars as shown, so that a reader's sum agrees. */
const totals = (lines: readonly Line[], item: string): Line[] => {
  const total = lines.reduce((sum, [, , dollars]) => sum + Number(dollars.toFixed(3)), 0);
  const free = lines.reduce((sum, [, , dollars, free = 0]) => sum + Math.min(dollars, free), 0);
  return [
    [item, "", total],
    [`${item}, always-free tiers taken off`, "", total - free],
  ];
};

const syncsOf = (hour: Work): number => hour.runs.filter(({ name }) => name === "sync-catalog").length;

const plansOf = (scan: Work): number => scan.runs.filter(({ name }) => name === "plan-scan").length;

/** What a deployment with these resources costs that nobody uses: no calls, no scans, no addresses. */
export const idleTable = (title: string, quietHour: Work, resources: Resources): Table => {
  const logged = (hours * quietHour.logBytes) / 2 ** 30;
  const lines: Line[] = [
    ...fixedLines(quietHour, resources, { syncs: syncsOf(quietHour), plans: 0 }),
    logLine(logged),
  ];
  return {
    title,
    columns: ["Item", "Arithmetic", "Dollars"],
    rows: [...lines, ...totals(lines, title)].map(asRow),
    notes: [
      `With a sender of e-mail one more queue is polled: ${dollarsOf(pollsPerMinute.uncapped * minutes * price.queueRequest)} more. With the table's key in the account each role asks KMS for it while it works. With a web ACL: ${dollarsOf(price.webAcl + price.webAclRule)} more, and $0.60 a million requests.`,
    ],
  };
};

/** What costs the same whether or not anyone uses the service. */
const fixedLines = (
  hour: Work,
  { polledQueues: { capped, uncapped }, alarms, hasSecret }: Resources,
  { syncs, plans }: { syncs: number; plans: number },
): Line[] => {
  const hourSeconds = gigabyteSecondsOf(hour.runs);
  const polls = minutes * (capped * pollsPerMinute.capped + uncapped * pollsPerMinute.uncapped);
  return [
    [
      "Queues, polled while idle",
      `(${capped} queues with a maximum concurrency × ${pollsPerMinute.capped} polls + ${uncapped} without × ${pollsPerMinute.uncapped}) × ${count(minutes)} minutes × $0.40/million`,
      polls * price.queueRequest,
      alwaysFree.queueRequests * price.queueRequest,
    ],
    [
      "Alarms",
      `${alarms} metrics × $0.10`,
      alarms * price.alarmMetric,
      alwaysFree.alarmMetrics * price.alarmMetric,
    ],
    hasSecret
      ? [
          "Secret (the HIBP key)",
          `$0.40 + (${hours} hours × ${syncs} syncs + ${days} scans × ${plans} runs of plan-scan) × $0.05/10,000`,
          price.secret + (hours * syncs + days * plans) * price.secretRequest,
        ]
      : ["Parameter (the HIBP key)", "standard parameters and their requests are free", 0],
    [
      "Schedules while nothing is due",
      `${hours} hours × (${hour.runs.length} runs × ($1.00 + $0.20) + ${show(hourSeconds)} GB-s × $13.33 + ${unitArithmetic(hour)})/million`,
      hours *
        (hour.runs.length * (price.schedule + price.invocation) +
          hourSeconds * price.gigabyteSecond +
          dollarsForUnits(hour)),
      hours * (hour.runs.length * (price.schedule + price.invocation) + hourSeconds * price.gigabyteSecond),
    ],
  ];
};

const keyAndStorageLines = (hour: Work, { storedBytes, resources }: Measurements): Line[] => {
  const { busyFunctions, coldRuns, keptTimes } = instanceUse(hour);
  const gigabytes = storedBytes / 2 ** 30;
  const storage: Line = [
    "Table and its backups",
    `${show(gigabytes)} GB × ($0.25 + $0.20)`,
    gigabytes * (price.storedGigabyte + price.backedUpGigabyte),
    Math.min(gigabytes, alwaysFree.storedGigabytes) * price.storedGigabyte,
  ];
  if (!resources.hasTableKey) return [storage];
  const key: Line = [
    "Encryption of the table (KMS requests)",
    `(${busyFunctions} roles × ${count(keptTimes)} times ${keptMinutes} minutes + ${count(coldRuns)} runs of roles that work less often) × $0.03/10,000`,
    (busyFunctions * keptTimes + coldRuns) * price.keyRequest,
    alwaysFree.keyRequests * price.keyRequest,
  ];
  return [key, storage];
};

const callLines = (hour: Work, { call }: Measurements): Line[] => {
  const { coldRuns } = instanceUse(hour);
  return [
    ["API Gateway", `${count(calls)} calls × $3.50/million`, calls * price.apiRequest],
    [
      "Functions of the API",
      `${count(calls)} × (2 runs × $0.20 + ${show(call.gigabyteSeconds)} GB-s × $13.33)/million`,
      calls * (2 * price.invocation + call.gigabyteSeconds * price.gigabyteSecond),
      Number.POSITIVE_INFINITY,
    ],
    [
      "Cold starts",
      `${count(coldRuns)} runs of functions that work less often than every ${keptMinutes} minutes × ${show(call.startGigabyteSeconds)} GB-s × $13.33/million`,
      coldRuns * call.startGigabyteSeconds * price.gigabyteSecond,
      Number.POSITIVE_INFINITY,
    ],
    [
      "Table units of the API",
      `${count(calls)} × (${unitArithmetic(call)})/million`,
      calls * dollarsForUnits(call),
    ],
  ];
};

const scanLines = ({ dailyScan, resources }: Measurements): Line[] => {
  const [arithmetic, dollars] = costOfScan(dailyScan, resources.queueFunctions);
  const free = days * (dollars - dollarsForUnits(dailyScan));
  return [
    ["Daily scans, each with an alert to one webhook", `${days} × ${arithmetic}`, days * dollars, free],
  ];
};

const observabilityLines = (hour: Work, { call, dailyScan }: Measurements): Line[] => {
  const loggedBytes =
    calls * (call.logBytes + accessLogBytes) + hours * hour.logBytes + days * dailyScan.logBytes;
  const logged = loggedBytes / 2 ** 30;
  return [
    logLine(logged),
    [
      "Metric of refused requests (401, 429)",
      "1 metric × $0.30",
      price.customMetric,
      alwaysFree.customMetrics * price.customMetric,
    ],
    ["Traces", `${count(calls)} × $5.00/million`, calls * price.trace, alwaysFree.traces * price.trace],
  ];
};

const logLine = (gigabytes: number): Line => [
  "Logs, kept for three months",
  `${show(gigabytes)} GB × ($0.50 + ${logMonths} × $0.03)`,
  gigabytes * (price.loggedGigabyte + logMonths * price.keptLogGigabyte),
  Math.min(gigabytes, alwaysFree.loggedGigabytes) *
    (price.loggedGigabyte + logMonths * price.keptLogGigabyte),
];

const dataLine = ({ call }: Measurements): Line => {
  const sent = (calls * call.sentBytes) / 2 ** 30;
  const free = alwaysFree.sentGigabytes * price.sentGigabyte;
  return ["Data sent", `${show(sent)} GB × $0.09`, sent * price.sentGigabyte, free];
};

/** What is paid once, before the first month. */
const onceLines = ({ addresses }: Size, { imported, firstScan, resources }: Measurements): Line[] => [
  [
    "Once: the import of the addresses",
    `${count(addresses)} × (${unitArithmetic(imported)})/million`,
    addresses * dollarsForUnits(imported),
  ],
  ["Once: their first scan", ...costOfScan(firstScan, resources.queueFunctions)],
];

/**
 * How instances of functions live: `busyFunctions` run so often that their instances never end, in
 * `keptTimes` periods of `keptMinutes`; every run of the other functions starts an instance, `coldRuns`
 * altogether.
 */
const instanceUse = (hour: Work): { busyFunctions: number; coldRuns: number; keptTimes: number } => {
  const keptTimes = minutes / keptMinutes;
  const runs = [...runsByFunction(hour).values()];
  return {
    keptTimes,
    busyFunctions: runs.filter((each) => each > keptTimes).length,
    coldRuns: runs.filter((each) => each <= keptTimes).reduce((sum, each) => sum + each, 0),
  };
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

const unitArithmetic = ({ readUnits, writeUnits }: Units): string =>
  `${show(readUnits)} read × $0.125 + ${show(writeUnits)} write × $0.625`;

/** Arithmetic and dollars of a scan: units, runs and memory-time of its functions, and their messages. */
const costOfScan = (scan: Work, queueFunctions: readonly string[]): [string, number] => {
  const { runs } = scan;
  const requests = requestsPerMessage * runs.filter(({ name }) => queueFunctions.includes(name)).length;
  const gigabyteSeconds = gigabyteSecondsOf(runs);
  return [
    `(${unitArithmetic(scan)} + ${count(runs.length)} runs × $0.20 + ${show(gigabyteSeconds)} GB-s × $13.33 + ${count(requests)} queue requests × $0.40)/million`,
    dollarsForUnits(scan) +
      runs.length * price.invocation +
      gigabyteSeconds * price.gigabyteSecond +
      requests * price.queueRequest,
  ];
};

const count = (value: number): string => Math.round(value).toLocaleString("en-US");

const show = (value: number): string => value.toLocaleString("en-US", { maximumSignificantDigits: 3 });

const dollarsOf = (dollars: number): string => `$${show(dollars)}`;
