import { buffer } from "node:stream/consumers";
import { callerHeader } from "../front/front.ts";
import { startEngineProxy } from "./engine-proxy.ts";

/** Requests to DynamoDB, and the capacity units that their replies tell. */
export type Consumed = {
  requests: number;
  readUnits: number;
  writeUnits: number;
};

export type Meter = {
  /** The value for AWS_ENDPOINT_URL_DYNAMODB. */
  url: string;
  /** What was consumed since the last call. */
  take: () => Consumed;
  /**
   * What `act` consumes, and in how many round trips one after the other. Replies are held back until no
   * further request has come for a moment. So requests that do not wait for each other count as one trip.
   */
  trips: <T>(act: () => Promise<T>) => Promise<Consumed & { trips: number; result: T }>;
  close: () => Promise<void>;
};

/**
 * How long no request must come before a trip is over. A busy machine delays requests, an idle one by little.
 */
const quietMilliseconds = 40;
const quietWhenIdleMilliseconds = 12;

/**
 * Starts a proxy in front of a DynamoDB engine that adds up the capacity which each request consumes.
 * - `isBackground`: whether requests of a caller, a function's name from the local runtime, are not counted.
 * - `isBusy`: whether the callers still compute; a trip ends only when all of them wait for replies.
 * - `ordersAttributes`: sorts the attributes of each row. The engine sends them in random order. V8 then
 *   makes a class of objects for each row, and reading takes several times the CPU time.
 */
export const startMeter = async (
  upstream: string,
  {
    isBackground = () => false,
    isBusy,
    ordersAttributes = false,
  }: {
    isBackground?: (caller: string) => boolean;
    isBusy?: () => boolean;
    ordersAttributes?: boolean;
  } = {},
): Promise<Meter> => {
  let consumed = nothing();
  let gate: ReturnType<typeof openGate> | undefined;
  const proxy = await startEngineProxy(upstream, async (request, operation, send) => {
    const isCounted = !isBackground(String(request.headers[callerHeader]));
    const entered = isCounted ? gate?.enter() : undefined;
    const asked = await buffer(request);
    const input = JSON.parse(asked.toString("utf8")) as Record<string, unknown>;
    const answer = await send(
      Buffer.from(
        JSON.stringify(isMetered(operation) ? { ...input, ReturnConsumedCapacity: "TOTAL" } : input),
      ),
    );
    if (isCounted) {
      consumed.requests++;
      const reply = JSON.parse(answer.body.toString("utf8"));
      if (answer.status === 200) add(consumed, operation, reply);
      else consumed.writeUnits += refusedUnits(input, reply);
      await entered?.();
    }
    return ordersAttributes ? { ...answer, body: ordered(answer.body) } : answer;
  });
  const take = (): Consumed => {
    const taken = consumed;
    consumed = nothing();
    return taken;
  };
  return {
    url: proxy.url,
    take,
    trips: async (act) => {
      const opened = openGate(isBusy);
      gate = opened;
      take();
      try {
        const result = await act();
        return { ...take(), trips: opened.trips(), result };
      } finally {
        gate = undefined;
        opened.release();
      }
    },
    close: proxy.close,
  };
};

/**
 * Holds replies back and lets them through together, once all are there and no request has come for a moment.
 */
const openGate = (isBusy?: () => boolean) => {
  let waiting: (() => void)[] = [];
  let unanswered = 0;
  let entries = 0;
  let timer: NodeJS.Timeout | undefined;
  let trips = 0;
  const release = (): void => {
    clearTimeout(timer);
    const free = waiting;
    waiting = [];
    if (free.length > 0) trips++;
    for (const go of free) go();
  };
  const wait = (): void => {
    clearTimeout(timer);
    if (unanswered > 0) return;
    const before = entries;
    // Requests that arrived while this process was busy are read before the decision.
    const whenQuiet = (then: () => void): void => {
      setImmediate(() =>
        setImmediate(() => {
          if (entries === before && unanswered === 0) then();
        }),
      );
    };
    timer = setTimeout(
      () => whenQuiet(() => (isBusy?.() ? wait() : whenQuiet(release))),
      isBusy === undefined ? quietMilliseconds : quietWhenIdleMilliseconds,
    );
  };
  return {
    /**
     * Registers a request. What it gives tells that the reply has come, and resolves when the reply may be passed on.
     */
    enter: () => {
      entries++;
      unanswered++;
      clearTimeout(timer);
      return (): Promise<void> =>
        new Promise((resolve) => {
          unanswered--;
          waiting.push(resolve);
          wait();
        });
    },
    trips: () => trips,
    release,
  };
};

const nothing = (): Consumed => ({ requests: 0, readUnits: 0, writeUnits: 0 });

const writing = new Set(["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"]);

const isMetered = (operation: string): boolean =>
  writing.has(operation) || ["GetItem", "Query", "BatchGetItem", "TransactGetItems"].includes(operation);

const add = (consumed: Consumed, operation: string, answer: { ConsumedCapacity?: unknown }): void => {
  for (const capacity of [answer.ConsumedCapacity ?? []].flat() as { CapacityUnits?: number }[]) {
    const units = capacity.CapacityUnits ?? 0;
    if (writing.has(operation)) consumed.writeUnits += units;
    else consumed.readUnits += units;
  }
};

/**
 * The write units of a failed condition, which the engine does not tell: as many as of the write. Rows have 1
 * KB.
 */
const refusedUnits = (
  { TransactItems }: { TransactItems?: unknown[] },
  { __type = "" }: { __type?: string },
): number => {
  if (__type.endsWith("#ConditionalCheckFailedException")) return 1;
  return __type.endsWith("#TransactionCanceledException") ? 2 * (TransactItems?.length ?? 0) : 0;
};

/** The same JSON with the names of each object in alphabetical order. */
const ordered = (json: Buffer): Buffer => {
  const order = (_: string, value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return Buffer.from(JSON.stringify(JSON.parse(json.toString("utf8")), order));
};
