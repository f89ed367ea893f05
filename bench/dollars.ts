/** Prices of us-east-1 on demand, in dollars. */
const perReadUnit = 0.125 / 1e6;
const perWriteUnit = 0.625 / 1e6;
const perApiRequest = 3.5 / 1e6;
const perInvocation = 0.2 / 1e6;
const perGigabyteSecond = 13.33 / 1e6;
const perMessage = 0.4 / 1e6;

/** Of a million requests: API Gateway, two invocations and their memory-time, table, messages. */
export const dollarsPerMillion = (request: {
  readUnits: number;
  writeUnits: number;
  milliseconds: number;
  megabytes: number;
  messages?: number | undefined;
}): number =>
  1e6 *
  (perApiRequest +
    2 * perInvocation +
    (request.milliseconds / 1000) * (request.megabytes / 1024) * perGigabyteSecond +
    request.readUnits * perReadUnit +
    request.writeUnits * perWriteUnit +
    (request.messages ?? 0) * perMessage);

/** Of units alone. */
export const dollarsForUnits = ({
  readUnits,
  writeUnits,
}: {
  readUnits: number;
  writeUnits: number;
}): number => readUnits * perReadUnit + writeUnits * perWriteUnit;

export const dollarsNote =
  "$/million: us-east-1 on demand. API Gateway $3.50, two Lambda requests $0.40, arm64 memory-time of p50 at the function's memory, table units; without data transfer and logs.";
