/**
 * Prices of us-east-1 on demand, in dollars, without free tiers. Storage, logs and alarms are by the month.
 */
export const price = {
  readUnit: 0.125e-6,
  writeUnit: 0.625e-6,
  apiRequest: 3.5e-6,
  invocation: 0.2e-6,
  gigabyteSecond: 13.33e-6,
  queueRequest: 0.4e-6,
  schedule: 1e-6,
  alarmMetric: 0.1,
  customMetric: 0.3,
  storedGigabyte: 0.25,
  backedUpGigabyte: 0.2,
  loggedGigabyte: 0.5,
  keptLogGigabyte: 0.03,
  sentGigabyte: 0.09,
  mail: 0.1e-3,
};

export type Units = { readUnits: number; writeUnits: number };

/** Dollars of units of the table. */
export const dollarsForUnits = ({ readUnits, writeUnits }: Units): number =>
  readUnits * price.readUnit + writeUnits * price.writeUnit;

/**
 * Assumed of an endpoint's run, for it depends on the machine: what it computes, and each round trip to
 * the table.
 */
const runMilliseconds = { computing: 10, trip: 8 };

/**
 * Dollars of a million API requests of this kind: API Gateway, two invocations (authorizer and endpoint), the
 * endpoint's memory-time and units of the table.
 */
export const dollarsPerMillion = (request: Units & { trips: number; megabytes: number }): number =>
  1e6 *
  (price.apiRequest +
    2 * price.invocation +
    ((runMilliseconds.computing + request.trips * runMilliseconds.trip) / 1000) *
      (request.megabytes / 1024) *
      price.gigabyteSecond +
    dollarsForUnits(request));

export const dollarsNote =
  "$/million: dollars of a million requests in us-east-1 on demand: API Gateway ($3.50), two " +
  "Lambda requests ($0.40), arm64 memory-time (assumed: 10 ms and 8 for each round trip) and " +
  "units of the table. Data transfer and logs are left out.";
