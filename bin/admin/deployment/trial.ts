/** The organization with which a deployment is tested, and how its API is asked. */
import { setTimeout } from "node:timers/promises";
import { dashboardRoutes } from "../../../functions/dashboard-routes.ts";
import { routes } from "../../../functions/routes.ts";
import type { Stack } from "../connect.ts";

export type Trial = {
  stack: Stack;
  /** Aborted when the operator ends the command. */
  signal: AbortSignal;
  /** Base URL of the API, with the stage. */
  base: string;
  org: number;
  domainId: number;
  /** Headers that authenticate requests to these parts of the API. */
  credentials: { v1: Record<string, string>; dashboard: Record<string, string> };
  /** Where alerts are posted to. `refuses`: it is the API itself, which answers 401. Undefined: nowhere. */
  webhook: { url: string; refuses: boolean } | undefined;
  /** What endpoints have replied, by the name of the endpoint. */
  replies: Record<string, Reply>;
};

// biome-ignore lint/suspicious/noExplicitAny: every endpoint has its own
type Reply = any;

/** What is asked of an endpoint. `id`: the parameter in its path. `statuses`: default its success. */
export type Asked = {
  id?: number | string;
  body?: Record<string, unknown> | FormData;
  statuses?: readonly number[];
};

const timeoutMilliseconds = 35_000;

export const send = (trial: Trial, path: string, init: RequestInit = {}): Promise<Response> => {
  const signal = AbortSignal.any([trial.signal, AbortSignal.timeout(timeoutMilliseconds)]);
  return fetch(`${trial.base}${path}`, { redirect: "error", ...init, signal }).catch((error: Error) => {
    throw new Error(`no answer: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  });
};

export const routeOf = (endpoint: string) => {
  const part = routes.some(({ name }) => name === endpoint) ? ("v1" as const) : ("dashboard" as const);
  const route = [...routes, ...dashboardRoutes].find(({ name }) => name === endpoint);
  if (route === undefined) throw new Error(`There is no endpoint ${endpoint}`);
  return { ...route, part };
};

/** Calls an endpoint by the name of its function. Throws when it answers with another status. */
export const call = async (trial: Trial, name: string, asked: Asked = {}): Promise<Reply> => {
  const { part, method, path, endpoint } = routeOf(name);
  const { id = "", body, statuses = [endpoint.status] } = asked;
  const isJson = body !== undefined && !(body instanceof FormData);
  const reply = await send(trial, `/${part}${path.replaceAll(/\{\w+\}/g, String(id))}`, {
    method,
    headers: { ...trial.credentials[part], ...(isJson && { "content-type": "application/json" }) },
    body: isJson ? JSON.stringify(body) : (body ?? null),
    redirect: "manual",
  });
  const json: Reply = await reply.json().catch(() => ({}));
  if (!statuses.includes(reply.status))
    throw new Error(`HTTP ${reply.status}: ${json.error} (request ${reply.headers.get("x-request-id")})`);
  trial.replies[name] = json;
  return json;
};

/** Looks once a second until that throws no more; after so many seconds throws what it last threw. */
export const eventually = async <T>(
  signal: AbortSignal,
  seconds: number,
  look: () => Promise<T>,
): Promise<T> => {
  for (const deadline = Date.now() + seconds * 1_000; ; await setTimeout(1_000, undefined, { signal })) {
    try {
      return await look();
    } catch (error) {
      if (signal.aborted || Date.now() > deadline) throw error;
    }
  }
};
