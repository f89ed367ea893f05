import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "./eventually.ts";

/** A received request; `at` is when it came, in milliseconds since the epoch. */
export type Received = { at: number; headers: Record<string, string>; body: Buffer };

export type Receiver = { url: string; close: () => Promise<void> };

/**
 * Starts a webhook receiver for all tests: `POST /<inbox>?status=500` keeps the request and answers with that
 * status (default 204); `GET /<inbox>` gives the kept requests as JSON, with bodies in base64.
 */
export const startReceiver = async (): Promise<Receiver> => {
  const inboxes = new Map<string, Received[]>();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://receiver");
    const inbox = inboxes.get(url.pathname) ?? [];
    if (request.method === "GET") {
      const kept = inbox.map(({ at, headers, body }) => ({ at, headers, body: body.toString("base64") }));
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(kept));
      return;
    }
    const received = {
      at: Date.now(),
      headers: request.headers as Record<string, string>,
      body: await read(request),
    };
    inboxes.set(url.pathname, [...inbox, received]);
    response.writeHead(Number(url.searchParams.get("status") ?? 204)).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/** The requests that an inbox has received, oldest first. */
export const receivedAt = async (url: string): Promise<Received[]> => {
  const reply = await fetch(url);
  const kept = (await reply.json()) as { at: number; headers: Record<string, string>; body: string }[];
  return kept.map(({ at, headers, body }) => ({ at, headers, body: Buffer.from(body, "base64") }));
};

/** Waits until an inbox holds exactly `count` requests, and gives them. */
export const waitForRequests = (inbox: string, count: number): Promise<Received[]> =>
  eventually(
    () => receivedAt(inbox),
    (received) => received.length === count,
  );

const read = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};
