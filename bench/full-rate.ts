/**
 * What it costs when somebody does the dearest that the limits allow, all day long. It uses figures that
 * other arms measure.
 */
import { everyRoute, type parts } from "../functions/parts.ts";
import { defaultMailBudget } from "../shared/alerting/kinds/email/mail-budget.ts";
import type { OrganizationLimit } from "../shared/contract/limits.ts";
import {
  organizationLimits,
  perMinute,
  perMinuteOfDirectories,
  perMinuteOfEndpoint,
} from "../shared/contract/limits.ts";
import { maximumChanges } from "../shared/monitoring/emails/email-schema.ts";
import type { Cell, Table } from "./arm.ts";
import { type Figures, tableOfFigures } from "./figures.ts";
import { accessLogBytes, numberOf, replyBytes, shortRun, titleOfOperations } from "./month.ts";
import { dollarsForUnits, price } from "./prices.ts";
import type { Resources } from "./stack.ts";

const hours = 24;
/** The organization whose everything is changed, as the other arms measure it. */
const size = "100,000";
/** Of a finding of the feed in OCSF. */
const itemBytes = 2_400;

type Part = (typeof parts)[number]["name"];

/** The dearest request that was measured of an endpoint. */
type Price = {
  endpoint: string;
  part: Part;
  limit: OrganizationLimit | undefined;
  isOpen: boolean;
  dollars: number;
};

/** Rows have names such as "GET /emails?q=ada of the dashboard". */
const pricesOf = (tables: readonly Table[]): Price[] =>
  tables.flatMap(({ columns, rows }) =>
    rows.flatMap((cells): Price[] => {
      const name = String(cells[0]);
      const [, method, path] = /^([A-Z]+) (\/[^ ?,]*)/.exec(name) ?? [];
      const part: Part = name.includes(" of the dashboard") ? "dashboard" : "v1";
      const route = everyRoute.find((each) => each.method === method && each.path === `/${part}${path}`);
      if (route === undefined) return [];
      const { limit, access } = route.endpoint;
      const items = Number(/limit=(\d+)/.exec(name)?.[1] ?? 0);
      const bytesSent = method === "GET" ? replyBytes + items * itemBytes : 0;
      const logBytes = accessLogBytes + 2 * shortRun.logBytes;
      const dollars =
        Number(cells[columns.indexOf("$/million")]) / 1e6 +
        (bytesSent * price.sentGigabyte + logBytes * price.loggedGigabyte) / 2 ** 30;
      return [{ endpoint: `${method} ${route.path}`, part, limit, isOpen: access === "anyone", dollars }];
    }),
  );

/**
 * Dollars of the dearest requests of an hour. `most`: of one endpoint, or of all that share a limit of the
 * organization.
 */
const dearestOfHour = (prices: readonly Price[], requests: number, most: (of: Price) => number): number => {
  const counts = new Map<string, number>();
  let left = requests;
  let dollars = 0;
  for (const each of prices.toSorted((one, other) => other.dollars - one.dollars)) {
    const shared = each.limit ?? each.endpoint;
    const count = Math.min(left, most(each) - (counts.get(shared) ?? 0));
    counts.set(shared, (counts.get(shared) ?? 0) + count);
    left -= count;
    dollars += count * each.dollars;
  }
  return dollars;
};

/** Dollars of an hour's requests that change everything, or begin work on everything. */
const bulkOfHour = (figures: Figures, isMember: boolean): number => {
  const numberIn = (arm: "acknowledgements" | "scans" | "cost", title: string, row: string, column: string) =>
    numberOf([tableOfFigures(figures, arm, title)], row, column);
  const ofUnits = "Dollars of units";
  const all = "One request that acknowledges all findings of a first scan";
  const scan = `Scans of ${size} addresses`;
  const disable = (column: string) =>
    numberIn("cost", titleOfOperations, "PATCH /emails/{id}, disable", column);
  const units = { readUnits: disable("Read units"), writeUnits: disable("Write units") };
  const changes = maximumChanges * dollarsForUnits(units);
  return (
    organizationLimits.acknowledgements * numberIn("acknowledgements", all, size.replace(",", ""), ofUnits) +
    organizationLimits.scans * numberIn("scans", scan, "Nothing new", ofUnits) +
    (isMember ? organizationLimits.emailBulkChanges * changes : 0)
  );
};

export const fullRateTable = ({ requestsPerSecond }: Resources, figures: Figures): Table => {
  const prices = pricesOf([
    tableOfFigures(figures, "lists", `Lists: ${size} findings of ${size} addresses`),
    tableOfFigures(figures, "cost", titleOfOperations),
  ]);
  const known = prices.filter(({ isOpen }) => !isOpen);
  const budgetOf = ({ limit }: Price, endpoint: number): number =>
    limit === undefined ? endpoint : organizationLimits[limit];
  const mails = defaultMailBudget.day * price.mail;
  const row = (who: string, aMinute: number, requests: number, bulk?: number): Cell[] => {
    const others = bulk === undefined ? [] : [hours * bulk, mails];
    const total = others.reduce((sum, dollars) => sum + dollars, hours * requests);
    const cells = bulk === undefined ? [null, null] : others.map((dollars) => dollars.toFixed(2));
    return [who, Math.round(aMinute), (hours * requests).toFixed(2), ...cells, total.toFixed(2)];
  };
  const dearestOpen = Math.max(...prices.filter(({ isOpen }) => isOpen).map(({ dollars }) => dollars));
  const ofMember = dearestOfHour(known, 60 * perMinute.user, (each) =>
    budgetOf(each, 60 * perMinuteOfEndpoint[each.part]),
  );
  const ofKey = dearestOfHour(
    known.filter(({ part }) => part === "v1"),
    60 * perMinute.key,
    (each) => budgetOf(each, 60 * perMinute.key),
  );
  const { directory: ofDirectory } = perMinuteOfDirectories;
  const operations = tableOfFigures(figures, "cost", titleOfOperations);
  const dollarsOfScim = operations.rows
    .filter(([name]) => String(name).includes(" of SCIM"))
    .map((cells) => Number(cells[operations.columns.indexOf("$/million")]) / 1e6);
  // A worker writes about as much again as the request.
  const dearestOfScim = 2 * Math.max(...dollarsOfScim);
  return {
    title: "A day of everything that the limits allow",
    columns: ["Who", "Requests a minute", "Requests", "Work on everything", "E-mails", "Dollars a day"],
    rows: [
      row(
        "many addresses, at the endpoints that need no credential",
        60 * requestsPerSecond.open,
        3_600 * requestsPerSecond.open * dearestOpen,
      ),
      row("a member, with all sessions", perMinute.user, ofMember, bulkOfHour(figures, true)),
      row("a leaked API key", perMinute.key, ofKey, bulkOfHour(figures, false)),
      row("a leaked token of a directory", ofDirectory, 60 * ofDirectory * dearestOfScim),
    ],
    notes: [
      `Of an organization with ${size} addresses and findings: the dearest requests that were ` +
        "measured, each as often as its limits allow; of endpoints without a credential the " +
        "dearest of them for all.",
      `Work on everything: ${organizationLimits.acknowledgements} acknowledgements or reopenings ` +
        `of all findings and ${organizationLimits.scans} scans an hour, and of a member ` +
        `${organizationLimits.emailBulkChanges} changes of ${maximumChanges} e-mails.`,
    ],
  };
};
