import { buffer } from "node:stream/consumers";
import { Pool } from "undici";
import { type Answer, type BehaviourSettings, openBehaviour, ReplyLost } from "../dynamodb/behaviour.ts";
import type { Body } from "../dynamodb/rows.ts";
import { refuse } from "../front/refusal.ts";
import { serveOnLoopback } from "../loopback.ts";

/** Sees each request with its answer. */
export type Observe = (operation: string, body: Body, answer: Answer) => void;

/**
 * Starts a server that behaves as the local runtime's DynamoDB does, in front of an engine whose tables have
 * the keys `pk` and `sk`. Roles are not checked.
 */
export const startBehavingDynamodb = async (
  engineUrl: string,
  settings: BehaviourSettings,
  observe: Observe = () => {},
): Promise<{ url: string; close: () => Promise<void> }> => {
  const pool = new Pool(engineUrl, { connections: 64 });
  const behave = openBehaviour(settings, () => ["pk", "sk"]);
  const server = await serveOnLoopback(async (request, response) => {
    try {
      const bytes = await buffer(request);
      const { host: _, connection: __, "content-length": ___, ...headers } = request.headers;
      const target = headers["x-amz-target"] ?? "";
      const operation = target.toString().split(".")[1] ?? "";
      const send = async (body: Buffer, other = operation) => {
        const targeted = { ...headers, "x-amz-target": `DynamoDB_20120810.${other}` };
        const reply = await pool.request({ method: "POST", path: "/", headers: targeted, body });
        return {
          status: reply.statusCode,
          headers: {},
          body: Buffer.from(await reply.body.arrayBuffer()),
        };
      };
      const body = JSON.parse(bytes.toString());
      const answer = await behave(operation, body, bytes, send);
      observe(operation, body, answer);
      response.writeHead(answer.status, { "content-type": "application/x-amz-json-1.0" }).end(answer.body);
    } catch (error) {
      if (error instanceof ReplyLost) response.destroy();
      else refuse(response, error as Error);
    }
  });
  return {
    url: server.url,
    close: async () => {
      await Promise.all([server.close(), pool.destroy()]);
    },
  };
};
