import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export type Replay = { url: string; close: () => Promise<void> };

type Reply = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

/**
 * Answers requests to DynamoDB with what the engine answered to the same request before, so that the engine
 * does not compute beside the function whose CPU time is measured. Only for functions that only read.
 */
export const startReplay = async (upstream: string): Promise<Replay> => {
  const agent = new Agent({ keepAlive: true });
  const known = new Map<string, Reply>();
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const identity = `${incoming.headers["x-amz-target"]} ${withoutTimes(body.toString("utf8"))}`;
    const reply = known.get(identity) ?? (await ask(upstream, agent, incoming.headers, body));
    if (reply.status === 200) known.set(identity, reply);
    outgoing.writeHead(reply.status, reply.headers).end(reply.body);
  });
  // Functions are called in turn: the connections of those that wait stay open.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        agent.destroy();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/**
 * Lists ask for rows up to a certain age. Without the times, which differ each time, their requests are the
 * same.
 */
const withoutTimes = (text: string): string => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "");

const ask = (
  upstream: string,
  agent: Agent,
  headers: Record<string, string | string[] | undefined>,
  body: Buffer,
): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const asked = request(upstream, { method: "POST", headers, agent }, async (reply) =>
      resolve({ status: reply.statusCode ?? 502, headers: reply.headers, body: await buffer(reply) }),
    );
    asked.once("error", reject);
    asked.end(body);
  });
