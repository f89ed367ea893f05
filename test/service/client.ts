import { randomInt } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { Pool } from "undici";
import { inject } from "vitest";
import { Refusal } from "../../shared/contract/errors.ts";

export type Reply<Body = Record<string, unknown>> = {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Body;
};

export type RequestOptions = {
  headers?: Record<string, string | string[]>;
  body?: unknown;
  raw?: string | Buffer;
};

/** A row of a list, as it came. */
// biome-ignore lint/suspicious/noExplicitAny: every list has its own
export type Row = any;

export type Client = {
  /** The loopback address (127.x.y.z) that this client sends from: requests are limited by source address. */
  address: string;
  request: (method: string, path: string, options?: RequestOptions) => Promise<Reply>;
  get: (path: string) => Promise<Reply>;
  /** The rows of a page of a list, whatever the list calls them. */
  list: (path: string) => Promise<Row[]>;
  post: (path: string, body?: unknown) => Promise<Reply>;
  patch: (path: string, body?: unknown) => Promise<Reply>;
  put: (path: string, body?: unknown) => Promise<Reply>;
  delete: (path: string) => Promise<Reply>;
};

/** What the service says when a busy machine leaves it no time. */
const busy = new Refusal("busy").message;

/** A client of the API that sends these headers with every request. */
export const createClient = (headers: Record<string, string>, apiUrl: string = inject("apiUrl")): Client => {
  const { origin, pathname } = new URL(apiUrl);
  const localAddress = `127.${randomInt(1, 255)}.${randomInt(0, 255)}.${randomInt(1, 255)}`;
  const pool = new Pool(origin, { localAddress });
  const request = async (method: string, path: string, options: RequestOptions = {}): Promise<Reply> => {
    const body = options.raw ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const reply = await pool.request({
      method: method as "GET",
      path: `${pathname}${path}`,
      headers: {
        ...headers,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...options.headers,
      },
      ...(body !== undefined && { body }),
    });
    const text = await reply.body.text();
    const isPlain = String(reply.headers["content-type"]).startsWith("text/plain");
    const read = () => (isPlain ? { text } : JSON.parse(text));
    return { status: reply.statusCode, headers: reply.headers, body: text === "" ? {} : read() };
  };
  /** Asks again when the service says so. */
  const ask = async (method: string, path: string, body?: unknown, triesLeft = 3): Promise<Reply> => {
    const reply = await request(method, path, { body });
    if (triesLeft === 1 || reply.body.error !== busy) return reply;
    await setTimeout(1_000 * Number(reply.headers["retry-after"]));
    return ask(method, path, body, triesLeft - 1);
  };
  return {
    address: localAddress,
    request,
    get: (path) => ask("GET", path),
    list: async (path) => {
      const { status, body } = await ask("GET", path);
      const rows = Object.values(body).find(Array.isArray);
      if (rows === undefined) throw new Error(`No list at ${path}: ${status} ${JSON.stringify(body)}`);
      return rows;
    },
    post: (path, body) => ask("POST", path, body),
    patch: (path, body) => ask("PATCH", path, body),
    put: (path, body) => ask("PUT", path, body),
    delete: (path) => ask("DELETE", path),
  };
};
