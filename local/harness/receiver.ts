import http, { type IncomingHttpHeaders, type RequestListener } from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { listenOn } from "../loopback.ts";

/** A request as it arrived; `body` holds the raw bytes. */
export type ReceivedRequest = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  receivedAt: Date;
};

export type Receiver = {
  /** For example http://127.0.0.1:40123. */
  origin: string;
  port: number;
  /** Complete requests, in the order in which they arrived. */
  requests: ReceivedRequest[];
  /** Open connections. */
  connections: Set<Socket>;
  close: () => Promise<void>;
};

export type Certificate = { cert: string; key: string };

/**
 * Starts a webhook receiver on a free port of 127.0.0.1 that keeps every request. `respond` is called once a
 * request is complete; the default responds with 204.
 */
export async function startReceiver({
  tls,
  respond = (_request, response) => response.writeHead(204).end(),
}: {
  /** Serves HTTPS with this certificate; without a certificate, HTTP. */
  tls?: Certificate;
  respond?: RequestListener;
} = {}): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const keep: RequestListener = async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    requests.push({
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: Buffer.concat(chunks),
      receivedAt: new Date(),
    });
    respond(request, response);
  };
  const server = tls === undefined ? http.createServer(keep) : https.createServer(tls, keep);
  const { port, connections, close } = await listenOn(server);
  return {
    origin: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`,
    port,
    requests,
    connections,
    close,
  };
}
