import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { callerHeader } from "../../local/front.ts";

/** What went over to DynamoDB: requests, and the capacity units that it says they consumed. */
export type Consumed = {
  requests: number;
  readUnits: number;
  writeUnits: number;
  /** Of requests and answers together, as JSON on the wire. */
  bytes: number;
};

export type Meter = {
  /** For AWS_ENDPOINT_URL_DYNAMODB. */
  url: string;
  /** Consumed since the last time. */
  take: () => Consumed;
  /**
   * What `act` consumes, and in how many round trips one after the other: answers are held back until no further request
   * has come for a moment, so that requests which do not wait for each other come in one trip, however busy the machine is.
   */
  trips: <T>(act: () => Promise<T>) => Promise<Consumed & { trips: number; result: T }>;
  close: () => Promise<void>;
};

/** Requests of one trip come within a few milliseconds of each other, unless the machine is busy. */
const quietMilliseconds = 40;
const quietWhenIdleMilliseconds = 12;

/**
 * A proxy in front of a DynamoDB engine that asks it for the capacity of every request and adds it up. Requests of callers
 * that `isBackground` names (functions, as the local runtime tells them) are passed on uncounted. `isBusy`: whether those
 * that make requests have anything to do, so that a trip ends only when they wait for its answers. `ordersAttributes`: the
 * engine sends the attributes of every row in a new random order, for which V8 makes a class of objects for each row:
 * reading rows takes several times the CPU time then.
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
  const { hostname, port } = new URL(upstream);
  const agent = new Agent({ keepAlive: true });
  let consumed = nothing();
  let gate: ReturnType<typeof openGate> | undefined;
  const server = createServer(async (incoming, outgoing) => {
    const operation = String(incoming.headers["x-amz-target"] ?? "").split(".")[1] ?? "";
    const entered = gate?.enter();
    const asked = await buffer(incoming);
    const input = JSON.parse(asked.toString("utf8")) as Record<string, unknown>;
    const isCounted = !isBackground(String(incoming.headers[callerHeader]));
    if (!isCounted) entered?.leave();
    const body = Buffer.from(
      JSON.stringify(isMetered(operation) ? { ...input, ReturnConsumedCapacity: "TOTAL" } : input),
    );
    const headers = { ...incoming.headers, "content-length": String(body.length) };
    const forwarded = request(
      { hostname, port, method: "POST", path: "/", headers, agent },
      async (reply) => {
        const answer = await buffer(reply);
        if (isCounted) {
          consumed.requests++;
          consumed.bytes += asked.length + answer.length;
          const told = JSON.parse(answer.toString("utf8"));
          if (reply.statusCode === 200) add(consumed, operation, told);
          else consumed.writeUnits += refusedUnits(input, told);
        }
        if (isCounted) await entered?.answered();
        const sent = ordersAttributes ? ordered(answer) : answer;
        outgoing
          .writeHead(reply.statusCode ?? 502, { ...reply.headers, "content-length": String(sent.length) })
          .end(sent);
      },
    );
    forwarded.once("error", () => outgoing.destroy());
    forwarded.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const take = (): Consumed => {
    const taken = consumed;
    consumed = nothing();
    return taken;
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
    close: () =>
      new Promise((resolve) => {
        agent.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** Lets answers through together, once all are there and no further request has come for a moment. */
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
    // What has arrived while this process was busy is taken in before each look.
    const look = (then: () => void): void => {
      setImmediate(() =>
        setImmediate(() => {
          if (entries === before && unanswered === 0) then();
        }),
      );
    };
    timer = setTimeout(
      () => look(() => (isBusy?.() ? wait() : look(release))),
      isBusy === undefined ? quietMilliseconds : quietWhenIdleMilliseconds,
    );
  };
  return {
    /** A request has come. */
    enter: () => {
      entries++;
      unanswered++;
      clearTimeout(timer);
      return {
        /** It is none of those that are counted. */
        leave: (): void => {
          unanswered--;
          if (waiting.length > 0) wait();
        },
        /** Its answer is there; waits until that may go on. */
        answered: (): Promise<void> =>
          new Promise((resolve) => {
            unanswered--;
            waiting.push(resolve);
            wait();
          }),
      };
    },
    trips: () => trips,
    release,
  };
};

const nothing = (): Consumed => ({ requests: 0, readUnits: 0, writeUnits: 0, bytes: 0 });

const writing = new Set(["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"]);

const isMetered = (operation: string): boolean =>
  writing.has(operation) || ["GetItem", "Query", "BatchGetItem", "TransactGetItems"].includes(operation);

const add = (consumed: Consumed, operation: string, answer: { ConsumedCapacity?: unknown }): void => {
  for (const capacity of [answer.ConsumedCapacity ?? []].flat() as { CapacityUnits?: number }[]) {
    const units = capacity.CapacityUnits ?? 0;
    if (writing.has(operation)) consumed.writeUnits += units;
    else consumed.readUnits += units;
  }
};

/** A write whose condition fails consumes as much on AWS, of which the engine says nothing; rows are of 1 KB mostly. */
const refusedUnits = (
  { TransactItems }: { TransactItems?: unknown[] },
  { __type = "" }: { __type?: string },
): number => {
  if (__type.endsWith("#ConditionalCheckFailedException")) return 1;
  return __type.endsWith("#TransactionCanceledException") ? 2 * (TransactItems?.length ?? 0) : 0;
};

/** The same JSON with the names of every object in alphabetical order. */
const ordered = (json: Buffer): Buffer => {
  const order = (_: string, value: unknown): unknown =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  return Buffer.from(JSON.stringify(JSON.parse(json.toString("utf8")), order));
};
