import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket, Server as TcpServer } from "node:net";
import { buffer } from "node:stream/consumers";

/** A server for this machine alone. `url` has no slash at its end; `close` also ends open connections. */
export type LoopbackServer = {
  url: string;
  port: number;
  close(): Promise<void>;
};

/** A handler's answer; a body is sent as JSON. */
export type Reply = {
  status: number;
  body?: unknown;
  headers?: Record<string, string>;
};

export type Responder = (request: IncomingMessage, body: Buffer) => Promise<Reply> | Reply;

/**
 * Serves on a free port of 127.0.0.1. If a handler throws, the answer is 500 with the error's message. It may
 * say anything: the clients are parts of this runtime.
 */
export const listenOnLoopback = (respond: Responder): Promise<LoopbackServer> =>
  serveOnLoopback((request, response) => void answer(respond, request, response));

/** As `listenOnLoopback`, with a handler of Node.js. Rejects if the port is taken; 0 takes a free one. */
export const serveOnLoopback = async (
  handle: RequestListener,
  { port = 0, ...options }: ServerOptions & { port?: number } = {},
): Promise<LoopbackServer> => {
  // With Node's default of 5 s, clients that reuse connections would often meet a closing connection.
  const server = createServer({ keepAliveTimeout: 600_000, ...options }, handle);
  const listening = await listenOn(server, port);
  return { url: `http://127.0.0.1:${listening.port}`, port: listening.port, close: listening.close };
};

/** A port of 127.0.0.1 that was free a moment ago, for a program that can't say which it has taken. */
export const findFreePort = async (): Promise<number> => {
  const { port, close } = await listenOn(createServer());
  await close();
  return port;
};

/** Checks that a port of 127.0.0.1 is free; 0 always is. Rejects with one sentence that says why not. */
export const checkPort = async (port: number): Promise<void> => {
  try {
    await (await listenOn(createServer(), port)).close();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      code === "EADDRINUSE"
        ? `Port ${port} is in use: stop what uses it, or choose another with --port N (0 takes a free one).`
        : `Port ${port} can't be had (${message}): choose another with --port N (0 takes a free one).`,
    );
  }
};

const answer = async (
  respond: Responder,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const reply = await buffer(request)
    .then((body) => respond(request, body))
    .catch((error: unknown): Reply => {
      return { status: 500, body: { message: error instanceof Error ? error.message : String(error) } };
    });
  const text = reply.body === undefined ? "" : JSON.stringify(reply.body);
  response.writeHead(reply.status, {
    ...(reply.body === undefined ? {} : { "content-type": "application/json; charset=utf-8" }),
    "content-length": String(Buffer.byteLength(text)),
    ...reply.headers,
  });
  response.end(text);
};

/** Makes any server listen on 127.0.0.1; 0 takes a free port. `close` also ends open connections. */
export const listenOn = async (server: TcpServer, port = 0) => {
  const connections = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connections.add(socket.on("error", () => undefined).on("close", () => connections.delete(socket)));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      resolve();
    });
  });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of connections) socket.destroy();
    });
  return { port: (server.address() as AddressInfo).port, connections, close };
};
