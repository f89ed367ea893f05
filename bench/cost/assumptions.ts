/**
 * What the cost of a month assumes about how the service is used, and about what a local run cannot measure.
 */
import type { Call } from "../api.ts";

export const days = 30;
export const hours = days * 24;
export const minutes = hours * 60;

const callsPerDay = 1_000;
export const calls = days * callsPerDay;

/** What a dashboard asks for, and an integration that polls for news. `share`: of a hundred calls. */
export const mix: readonly { share: number; call: Call; function: string }[] = [
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

/**
 * Long polls of 20 seconds that an event source keeps open on an idle queue: five, and as few as two if it has no
 * maximum concurrency (AWS Lambda's guide, "Configuring scaling behavior for SQS event source mappings").
 */
export const pollsPerMinute = { capped: 5 * 3, uncapped: 2 * 3 };

/** What AWS gives every month, not only in an account's first year. API Gateway, Secrets Manager, requests to the table and its backups have nothing. */
export const alwaysFree = {
  queueRequests: 1_000_000,
  alarmMetrics: 10,
  customMetrics: 10,
  keyRequests: 20_000,
  storedGigabytes: 25,
  loggedGigabytes: 5,
  traces: 100_000,
  sentGigabytes: 100,
};

/** A message is sent, received and deleted. */
export const requestsPerMessage = 3;

/**
 * Minutes that Lambda keeps an idle instance, and that a role may use the table's encryption key before it
 * asks KMS for the key again.
 */
export const keptMinutes = 5;

/** A line of API Gateway's access log. */
export const accessLogBytes = 300;

/** Lambda's own lines of a run, and the function's. */
export const runLogBytes = 1_000;

/** A run of the authorizer, or of the function of the page. */
export const shortRunSeconds = 0.02;

/** X-Ray traces one request a second, and this share of the others. */
export const tracedShare = 0.05;

/** Months that logs are kept. */
export const logMonths = 3;

/** Breaches in Have I Been Pwned's catalog, which is about a megabyte. */
export const catalogSize = 1_000;

/** The part of a core that Lambda gives a function with 256 MB. */
export const coreShare = 1 / 7;
