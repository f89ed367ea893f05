/** Requests to the service. */

import { lapsed, showSignedOut, signedIn, waitsUntil } from "./access.ts";
import { Failure, wordsOf } from "./failure.ts";
import type { Input, Reply, RouteName } from "./routes.ts";

type Options = {
  signal?: AbortSignal;
  /** What to do when nobody is signed in; the default waits until somebody is, and asks again. */
  whenSignedOut?: "fail";
};

type Parts = {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  file?: File;
};

/** Requests that are refused for longer fail at once; nobody waits an hour at a page. */
const longestWaitSeconds = 60;

/** Further tries of a request that may be repeated (RFC 9110, section 9.2.2), after each 503. */
const maximumRepeats = 2;
const idempotentMethods = ["GET", "PUT", "DELETE"];

/**
 * Asks the service. Waits as long as it asks to (429; 503 if the request may be repeated), and until people
 * have signed in again (401).
 * @throws Failure
 */
export async function call<Name extends RouteName>(
  route: Name,
  input: Input<Name>,
  { signal, whenSignedOut }: Options = {},
): Promise<Reply<Name>> {
  const [method = "", template = ""] = route.split(" ");
  const { path, query, body, file } = input as Parts;
  const url = `/api${fill(template, path)}${searchOf(query)}`;
  let repeats = 0;
  for (;;) {
    const response = await send(url, {
      method,
      ...(signal && { signal }),
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { "Content-Type": "application/json" },
      }),
      ...(file !== undefined && { body: formOf(file) }),
    });
    keepTime(response);
    const answer = await read(response, signal);
    if (response.ok) return answer as Reply<Name>;
    const failure = failureOf(response, answer);
    // With a code it is about something else than the session, such as a passkey.
    if (failure.status === 401 && failure.code === undefined && whenSignedOut !== "fail") {
      showSignedOut();
      await signedIn(signal);
      continue;
    }
    if (failure.status === 402 && typeof answer.reason === "string") lapsed.value = answer.reason;
    const seconds = Number(response.headers.get("Retry-After") ?? Number.NaN);
    if (failure.status === 429 && seconds <= longestWaitSeconds) {
      await waitForTurn(seconds, signal);
      continue;
    }
    const isBusy = failure.status === 503 && seconds <= longestWaitSeconds;
    if (isBusy && idempotentMethods.includes(method) && repeats < maximumRepeats) {
      repeats += 1;
      await sleep(seconds * 1000, signal);
      continue;
    }
    throw failure;
  }
}

const fill = (template: string, path: Record<string, unknown> = {}): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])));

function searchOf(query: Record<string, unknown> = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [[name, String(value)]],
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs)}`;
}

function formOf(file: File): FormData {
  const form = new FormData();
  form.append("file", file);
  return form;
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, credentials: "same-origin", cache: "no-store", redirect: "error" });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Failure("The service cannot be reached.", { status: 0 });
  }
}

/** How far the service's clock is ahead of the browser's, in milliseconds. */
let ahead = 0;

/** Clocks that agree count as the same: the header has whole seconds, and answers take their time. */
function keepTime(response: Response): void {
  const difference = Date.parse(response.headers.get("Date") ?? "") - Date.now();
  if (!Number.isNaN(difference)) ahead = Math.abs(difference) < 3_000 ? 0 : difference;
}

/** The service's time: a browser's clock may be wrong. */
export const serviceTime = (): Date => new Date(Date.now() + ahead);

async function read(response: Response, signal: AbortSignal | undefined): Promise<Record<string, unknown>> {
  try {
    const answer: unknown = await response.json();
    return typeof answer === "object" && answer !== null ? (answer as Record<string, unknown>) : {};
  } catch (error) {
    if (signal?.aborted) throw error;
    // It ended early, or comes from a network that wants people to sign in first.
    if (response.ok) throw new Failure("The service did not answer as expected.", { status: 0 });
    return {};
  }
}

function failureOf(response: Response, answer: Record<string, unknown>): Failure {
  const { error, code } = answer;
  const words =
    typeof error === "string" ? wordsOf(error) : { text: "The service did not answer as expected." };
  const retryAfter = Number(response.headers.get("Retry-After") ?? Number.NaN);
  return new Failure(words.text, {
    ...words,
    status: response.status,
    code: typeof code === "string" ? code : undefined,
    retryAt: Number.isFinite(retryAfter) ? Date.now() + retryAfter * 1000 : undefined,
    requestId: response.headers.get("X-Request-Id") ?? undefined,
    details: answer,
  });
}

/** How many requests wait. */
let waiting = 0;

/** Waits, and shows that it does. */
async function waitForTurn(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  waiting += 1;
  waitsUntil.value = Math.max(Date.now() + seconds * 1000, waitsUntil.value ?? 0);
  try {
    await sleep(seconds * 1000, signal);
  } finally {
    waiting -= 1;
    if (waiting === 0) waitsUntil.value = undefined;
  }
}

/** Resolves after some time; rejects when the signal aborts. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Whether something failed because the page no longer wants it. */
export const isAbort = (error: unknown): boolean =>
  error instanceof DOMException && error.name === "AbortError";

/** Anything thrown as a failure. */
export const asFailure = (error: unknown): Failure =>
  error instanceof Failure ? error : new Failure("The page failed unexpectedly.", { status: -1 });
