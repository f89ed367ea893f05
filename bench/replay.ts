import { Agent, createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export type Replay = { url: string; close: () => Promise<void> };

type Reply = { status: number; headers: Record<string, string | string[] | undefined>; body: Buffer };

/**
 * Answers requests to DynamoDB with what the engine answered the first time, at once: the engine would otherwise compute on
 * the same cores and in the same caches as the function whose CPU time is to be known. Only for functions that only read.
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
  // Functions that take turns keep their connections meanwhile.
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

/** What is a year old moves with every request. */
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
