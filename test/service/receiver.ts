import { startReceiver as startHttpReceiver } from "../../local/harness/receiver.ts";
import { eventually } from "./eventually.ts";

/** A received request; `at` is when it came, in milliseconds since the epoch. */
export type Received = { at: number; headers: Record<string, string>; body: Buffer };

export type Receiver = { url: string; close: () => Promise<void> };

/**
 * Starts a webhook receiver for all tests: `POST /<inbox>?status=500` keeps the request and answers with that
 * status (default 204); `GET /<inbox>` gives the kept requests as JSON, with bodies in base64.
 */
export const startReceiver = async (): Promise<Receiver> => {
  const { origin, requests, close } = await startHttpReceiver({
    respond: ({ method, url = "/" }, response) => {
      const { pathname, searchParams } = new URL(url, "http://receiver");
      if (method !== "GET") return response.writeHead(Number(searchParams.get("status") ?? 204)).end();
      const kept = requests
        .filter((each) => each.method !== "GET" && each.path.split("?")[0] === pathname)
        .map(({ receivedAt, headers, body }) => ({
          at: receivedAt.getTime(),
          headers,
          body: body.toString("base64"),
        }));
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(kept));
    },
  });
  return { url: origin, close };
};

/** The requests that an inbox has received, oldest first. */
export const receivedAt = async (url: string): Promise<Received[]> => {
  const reply = await fetch(url);
  const kept = (await reply.json()) as { at: number; headers: Record<string, string>; body: string }[];
  return kept.map(({ at, headers, body }) => ({ at, headers, body: Buffer.from(body, "base64") }));
};

/** Waits until an inbox holds `count` requests, and gives them. A request that is delivered twice makes one more. */
export const waitForRequests = (inbox: string, count: number): Promise<Received[]> =>
  eventually(
    () => receivedAt(inbox),
    (received) => received.length >= count,
  );
