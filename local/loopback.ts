import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that only this machine can reach. `url` has no slash at its end; `close` also ends open connections. */
export interface LoopbackServer {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/** What a request handler answers; an object body is sent as JSON. */
export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

export type Responder = (request: IncomingMessage, body: Buffer) => Promise<Reply> | Reply;

/**
 * Serves on a free port of 127.0.0.1. A handler that throws answers 500 with the error's message, which is fine
 * here because only our own emulations use it.
 */
export async function listenOnLoopback(respond: Responder, port = 0): Promise<LoopbackServer> {
  const server = createServer((request, response) => {
    void answer(respond, request, response);
  });
  // Clients keep connections for reuse; with Node's default of 5 s they would often meet one just being closed.
  server.keepAliveTimeout = 120_000;
  await listen(server, port);
  const { port: boundPort } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${boundPort}`,
    port: boundPort,
    close: () => close(server),
  };
}

/** A port of 127.0.0.1 that was free a moment ago, for a child process that can't tell which one it got. */
export async function findFreePort(): Promise<number> {
  const server = createServer();
  await listen(server, 0);
  const { port } = server.address() as AddressInfo;
  await close(server);
  return port;
}

/**
 * Checks that this port of 127.0.0.1 can be had; 0 always can.
 * @throws Error with one sentence that says why not.
 */
export async function checkPort(port: number): Promise<void> {
  const server = createServer();
  try {
    await listen(server, port);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      code === "EADDRINUSE"
        ? `Port ${port} is in use: stop what uses it, or choose another with --port N (0 takes a free one).`
        : `Port ${port} can't be had (${message}): choose another with --port N (0 takes a free one).`,
    );
  }
  await close(server);
}

async function answer(respond: Responder, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const reply = await replyTo(respond, request);
  const text = reply.body === undefined ? "" : JSON.stringify(reply.body);
  response.writeHead(reply.status, {
    ...(reply.body === undefined ? {} : { "content-type": "application/json; charset=utf-8" }),
    "content-length": String(Buffer.byteLength(text)),
    ...reply.headers,
  });
  response.end(text);
}

async function replyTo(respond: Responder, request: IncomingMessage): Promise<Reply> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) {
      chunks.push(chunk as Buffer);
    }
    return await respond(request, Buffer.concat(chunks));
  } catch (error) {
    return { status: 500, body: { message: error instanceof Error ? error.message : String(error) } };
  }
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
