import { Agent, createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";

/** What went over to DynamoDB: requests, and the capacity units that it says they consumed. */
export type Consumed = {
  requests: number;
  readUnits: number;
  writeUnits: number;
  writesTo: Record<string, number>;
};

export type Meter = {
  /** For AWS_ENDPOINT_URL_DYNAMODB. */
  url: string;
  /** Consumed since the last time. */
  take: () => Consumed;
  close: () => Promise<void>;
};

/** A proxy in front of a DynamoDB engine that asks it for the capacity of every request and adds it up. */
export const startMeter = async (upstream: string): Promise<Meter> => {
  const { hostname, port } = new URL(upstream);
  const agent = new Agent({ keepAlive: true });
  let consumed = nothing();
  const server = createServer(async (incoming, outgoing) => {
    const operation = String(incoming.headers["x-amz-target"] ?? "").split(".")[1] ?? "";
    const asked = JSON.parse((await read(incoming)).toString("utf8")) as Record<string, unknown>;
    const body = Buffer.from(
      JSON.stringify(isMetered(operation) ? { ...asked, ReturnConsumedCapacity: "TOTAL" } : asked),
    );
    const headers = { ...incoming.headers, "content-length": String(body.length) };
    const forwarded = request(
      { hostname, port, method: "POST", path: "/", headers, agent },
      async (reply) => {
        const answer = await read(reply);
        consumed.requests++;
        if (reply.statusCode === 200) add(consumed, operation, JSON.parse(answer.toString("utf8")));
        outgoing.writeHead(reply.statusCode ?? 502, reply.headers).end(answer);
      },
    );
    forwarded.once("error", () => outgoing.destroy());
    forwarded.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take: () => {
      const taken = consumed;
      consumed = nothing();
      return taken;
    },
    close: () =>
      new Promise((resolve) => {
        agent.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const nothing = (): Consumed => ({ requests: 0, readUnits: 0, writeUnits: 0, writesTo: {} });

const writing = new Set(["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"]);

const isMetered = (operation: string): boolean =>
  writing.has(operation) || ["GetItem", "Query", "BatchGetItem", "TransactGetItems"].includes(operation);

const add = (consumed: Consumed, operation: string, answer: { ConsumedCapacity?: unknown }): void => {
  for (const capacity of [answer.ConsumedCapacity ?? []].flat() as { CapacityUnits?: number }[]) {
    const units = capacity.CapacityUnits ?? 0;
    if (writing.has(operation)) {
      consumed.writeUnits += units;
      consumed.writesTo[operation] = (consumed.writesTo[operation] ?? 0) + units;
    } else consumed.readUnits += units;
  }
};

const read = async (stream: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};
