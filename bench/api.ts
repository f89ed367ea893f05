import { Pool } from "undici";

export type Reply = { status: number; body: Record<string, unknown>; milliseconds: number };

export type Call = {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below /api/v1, with its query. */
  path: string;
  body?: unknown;
  /** Instead of `body`: as it is, with these headers. */
  raw?: Buffer;
  headers?: Record<string, string>;
};

export type Api = { send: (call: Call) => Promise<Reply>; close: () => Promise<void> };

/**
 * A client that uses one key after the other, each from an address of its own: a hundred requests a minute is what each key
 * and each address may make.
 */
export const createApi = (apiUrl: string, apiKeys: readonly string[]): Api => {
  const { origin, pathname } = new URL(apiUrl);
  const callers = apiKeys.map((key, index) => ({
    key,
    pool: new Pool(origin, { localAddress: `127.77.${index >> 7}.${1 + (index & 127)}` }),
  }));
  let next = 0;
  return {
    send: async ({ method, path, body, raw, headers }) => {
      const caller = callers[next++ % callers.length];
      if (caller === undefined) throw new Error("A client needs a key");
      const sent = raw ?? (body === undefined ? null : JSON.stringify(body));
      const begin = performance.now();
      const reply = await caller.pool.request({
        method,
        path: `${pathname}${path}`,
        headers: {
          authorization: `Bearer ${caller.key}`,
          ...(raw === undefined && sent !== null && { "content-type": "application/json" }),
          ...headers,
        },
        body: sent,
      });
      const text = await reply.body.text();
      const milliseconds = performance.now() - begin;
      return { status: reply.statusCode, body: text === "" ? {} : JSON.parse(text), milliseconds };
    },
    close: async () => {
      await Promise.all(callers.map(({ pool }) => pool.close()));
    },
  };
};
