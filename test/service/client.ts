import { execFile } from "node:child_process";
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { Pool } from "undici";
import { inject } from "vitest";
import { commands } from "../../bin/admin/commands.ts";
import { connect, type Stack } from "../../bin/admin/connect.ts";

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

/** A client of the API. */
export type Client = {
  /** Of its own (127.x.y.z), since every address has a limit of its own. */
  address: string;
  request: (method: string, path: string, options?: RequestOptions) => Promise<Reply>;
  get: (path: string) => Promise<Reply>;
  post: (path: string, body?: unknown) => Promise<Reply>;
  patch: (path: string, body?: unknown) => Promise<Reply>;
  delete: (path: string) => Promise<Reply>;
};

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
    return { status: reply.statusCode, headers: reply.headers, body: text === "" ? {} : JSON.parse(text) };
  };
  return {
    address: localAddress,
    request,
    get: (path) => request("GET", path),
    post: (path, body) => request("POST", path, { body }),
    patch: (path, body) => request("PATCH", path, { body }),
    delete: (path) => request("DELETE", path),
  };
};

type Result = Record<string, unknown> & { id: number };

let connected: { port: string; stack: Promise<Stack> } | undefined;

/**
 * Runs an admin command: `admin("org create", { name: "Acme" })`. On the first service that a test file works on in this
 * process, which is faster (the product's modules then work on that service); on another by the real command line.
 */
export const admin = async (
  command: string,
  flags: Record<string, string | number | true>,
  apiUrl: string = inject("apiUrl"),
): Promise<Result> => {
  const { port } = new URL(apiUrl);
  connected ??= { port, stack: connect({ port, stack: undefined }) };
  if (connected.port !== port) return commandLine(command, flags, apiUrl);
  const strings = Object.fromEntries(Object.entries(flags).map(([flag, value]) => [flag, String(value)]));
  const run = commands[command]?.run;
  if (run === undefined) throw new Error(`No admin command ${command}`);
  return (await run(strings, await connected.stack)) as Result;
};

/** The same by the real command line: also right after the service was started again. */
export const commandLine = async (
  command: string,
  flags: Record<string, string | number | true>,
  apiUrl: string,
): Promise<Result> => {
  const args = Object.entries(flags).flatMap(([flag, value]) =>
    value === true ? [`--${flag}`] : [`--${flag}`, String(value)],
  );
  const entry = join(import.meta.dirname, "../../bin/admin.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [
    entry,
    ...command.split(" "),
    ...args,
    "--json",
    "--port",
    new URL(apiUrl).port,
  ]);
  return JSON.parse(stdout) as Result;
};

export type Organization = {
  id: number;
  /** Verified. */
  domainId: number;
  domain: string;
  key: string;
  keyId: number;
  api: Client;
};

/** A fresh organization with a verified domain (by default the one that the built-in breaches know) and a key. */
export const createOrganization = async (
  flags: Record<string, string> = {},
  { domain = "demo.example", apiUrl = inject("apiUrl") }: { domain?: string; apiUrl?: string } = {},
): Promise<Organization> => {
  const { id } = await admin("org create", { name: "Test", "scan-every": "never", ...flags }, apiUrl);
  const added = await admin("domain add", { org: id, name: domain, verified: true }, apiUrl);
  const created = await admin("key create", { org: id, label: "Test key" }, apiUrl);
  const key = created.key as string;
  const api = createClient({ authorization: `Bearer ${key}` }, apiUrl);
  return { id, domainId: added.id, domain, key, keyId: created.id, api };
};

/**
 * Looks until something is there, less and less often, so that a minute of looking stays below a client's limit; throws
 * after `seconds` with what was seen last.
 */
export const eventually = async <T>(
  look: () => Promise<T>,
  isThere: (value: T) => boolean,
  seconds = 30,
): Promise<T> => {
  const deadline = Date.now() + seconds * 1000;
  for (let pause = 100; ; pause = Math.min(pause * 1.2, 1_500)) {
    const value = await look();
    if (isThere(value)) return value;
    if (Date.now() > deadline) throw new Error(`Not there in ${seconds} s; last: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
};

/** Starts a scan and waits for its end. */
export const scan = async (api: Client): Promise<Record<string, unknown>> => {
  const started = await api.post("/scans");
  if (started.status !== 201) throw new Error(`The scan did not start: ${JSON.stringify(started.body)}`);
  const find = async () => {
    const { scans } = (await api.get("/scans?limit=5")).body as { scans: Record<string, unknown>[] };
    return scans.find((each) => each.id === started.body.scanJobId);
  };
  const ended = await eventually(find, (each) => each?.status === "completed" || each?.status === "failed");
  return ended as Record<string, unknown>;
};
