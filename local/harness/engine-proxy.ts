/** A server in front of a DynamoDB engine, for what stands between the two. */
import type { IncomingMessage } from "node:http";
import { Pool } from "undici";
import { type Answer, ReplyLost, type Send } from "../dynamodb/behaviour.ts";
import { refuse } from "../front/refusal.ts";
import { serveOnLoopback } from "../loopback.ts";

/** Answers a request, whose body it reads by itself, by the engine or by itself. `operation`: such as "PutItem". */
export type Between = (request: IncomingMessage, operation: string, send: Send) => Promise<Answer>;

export const startEngineProxy = async (
  engineUrl: string,
  between: Between,
): Promise<{ url: string; close: () => Promise<void> }> => {
  const pool = new Pool(engineUrl, { connections: 64 });
  const server = await serveOnLoopback(async (request, response) => {
    try {
      const { host: _, connection: __, "content-length": ___, ...headers } = request.headers;
      const operation = String(headers["x-amz-target"] ?? "").split(".")[1] ?? "";
      const send: Send = async (body, other = operation) => {
        const targeted = { ...headers, "x-amz-target": `DynamoDB_20120810.${other}` };
        const reply = await pool.request({ method: "POST", path: "/", headers: targeted, body });
        return {
          status: reply.statusCode,
          headers: {},
          body: Buffer.from(await reply.body.arrayBuffer()),
        };
      };
      const { status, body } = await between(request, operation, send);
      response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(body);
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
