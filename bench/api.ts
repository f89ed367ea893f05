import { type FormData, Pool } from "undici";

export type Reply = { status: number; body: Record<string, unknown> };

export type Call = {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With its query, relative to /api/v1; for `asUser` and `asNobody` to /api/dashboard, for `token` to SCIM. */
  path: string;
  /** With the session of a user instead of an API key. */
  asUser?: true;
  /** Without a credential. */
  asNobody?: true;
  /** With the token of a directory. */
  token?: string;
  body?: unknown;
  /** Sent instead of `body`, which is sent as JSON. */
  form?: FormData;
};

export type Api = {
  send: (call: Call) => Promise<Reply>;
  /** Sends a request with each credential, so that the authorizer's instance knows all of them. */
  warm: () => Promise<void>;
  close: () => Promise<void>;
};

/**
 * A client that uses the keys in turn, each from a loopback address of its own. The service allows a hundred
 * requests a minute for each key and each address.
 */
export const createApi = (apiUrl: string, apiKeys: readonly string[], session: string): Api => {
  const { origin, pathname } = new URL(apiUrl);
  const callers = apiKeys.map((key, index) => ({
    key,
    pool: new Pool(origin, { localAddress: `127.77.${index >> 7}.${1 + (index & 127)}` }),
  }));
  let next = 0;
  const api: Api = {
    warm: async () => {
      for (const _ of callers) await api.send({ method: "GET", path: "/nothing" });
      await api.send({ method: "GET", path: "/nothing", asUser: true });
    },
    send: async ({ method, path, asUser, asNobody, token, body, form }) => {
      const caller = callers[next++ % callers.length];
      if (caller === undefined) throw new Error("Give the client at least one API key");
      const sent = form ?? (body === undefined ? null : JSON.stringify(body));
      const reply = await caller.pool.request({
        method,
        path: `${pathname.replace(/v1$/, asUser || asNobody ? "dashboard" : token ? "scim/v2" : "v1")}${path}`,
        headers: {
          ...(asUser && { cookie: `session=${session}`, origin }),
          ...(!asUser && !asNobody && { authorization: `Bearer ${token ?? caller.key}` }),
          ...(typeof sent === "string" && { "content-type": "application/json" }),
        },
        body: sent,
      });
      const text = await reply.body.text();
      return { status: reply.statusCode, body: text === "" ? {} : JSON.parse(text) };
    },
    close: async () => {
      await Promise.all(callers.map(({ pool }) => pool.close()));
    },
  };
  return api;
};
