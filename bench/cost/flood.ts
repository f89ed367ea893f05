/** What it costs when somebody sends as many requests as API Gateway lets through. */
import type { Table } from "../arm.ts";
import { dollarsForUnits, price } from "../prices.ts";
import type { Resources } from "../stack.ts";
import { accessLogBytes, runLogBytes, shortRunSeconds, tracedShare } from "./assumptions.ts";

const secondsOfDay = 86_400;

/** The rate with which docs/cost.md compares the default. */
const highRate = 500;

/** The authorizer's, for a request that it refuses. */
const refusedUnits = { readUnits: 2, writeUnits: 2 };

/** Dollars of a request that invokes one function for a moment. */
const dollarsOfRequest = ({
  megabytes,
  bytesSent,
  dollarsOfTable,
}: {
  megabytes: number;
  bytesSent: number;
  dollarsOfTable: number;
}): number =>
  price.apiRequest +
  price.invocation +
  shortRunSeconds * (megabytes / 1024) * price.gigabyteSecond +
  dollarsOfTable +
  (bytesSent / 2 ** 30) * price.sentGigabyte +
  ((accessLogBytes + runLogBytes) / 2 ** 30) * price.loggedGigabyte +
  tracedShare * price.trace;

export const floodTable = ({
  requestsPerSecond,
  authorizerMegabytes: megabytes,
  largestPageFile,
}: Resources): Table => {
  const kinds = [
    {
      kind: "Without a credential (401)",
      dollars: dollarsOfRequest({ megabytes, bytesSent: 200, dollarsOfTable: dollarsForUnits(refusedUnits) }),
    },
    {
      kind: "The largest file of the dashboard's page, not compressed",
      dollars: dollarsOfRequest({ megabytes, bytesSent: largestPageFile, dollarsOfTable: 0 }),
    },
  ];
  const aDay = (dollars: number, rate: number): string =>
    (secondsOfDay * (rate * dollars + price.trace)).toFixed(2);
  return {
    title: "A day of a flood from many addresses",
    columns: [
      "Requests",
      "Dollars a million",
      `Dollars a day at ${requestsPerSecond} a second`,
      `At ${highRate} a second`,
    ],
    rows: kinds.map(({ kind, dollars }) => [
      kind,
      (1e6 * dollars).toFixed(1),
      aDay(dollars, requestsPerSecond),
      aDay(dollars, highRate),
    ]),
    notes: [
      `Assumed: ${1000 * shortRunSeconds} ms at ${megabytes} MB, ${accessLogBytes + runLogBytes} bytes of logs, traces of one request a second and ${100 * tracedShare} % of the others. Requests over the rate cost nothing. AWS does not charge API Gateway's $3.50 for requests that an authorizer refuses; they are counted all the same.`,
      "Requests with a valid key or session are limited by the key and by the organization, whatever the rate.",
    ],
  };
};
