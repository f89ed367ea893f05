/**
 * What the demo organization shows: two channels, invented addresses, two scans and their findings, made
 * through the API.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { publishBreach } from "./demo-breaches.ts";
import { connectDemoDirectory, pushDemoPeople } from "./demo-directory.ts";

/** The first reaches nobody outside of this machine: mail goes to a folder. The second fails. */
const channelsOf = (brokenUrl: string) => [
  {
    name: "Security team",
    body: { channel: "email", config: { recipients: ["security@demo.example"] }, notifyOnScanComplete: true },
    options: { grouping: "scan", sensitive: "discreet" },
  },
  {
    name: "Ticket system",
    body: { channel: "webhook", config: { url: brokenUrl, secret: "Invented for demonstration" } },
    options: { grouping: "address", sensitive: "named" },
  },
];

const withinMilliseconds = 30_000;

/** `directory`: of the run's data. */
type Settings = {
  directory: string;
  port: number;
  brokenUrl: string;
  signal: AbortSignal;
  /** Of a session of an admin, which ends with its use. */
  cookie: Promise<string>;
};

/**
 * Adds the channels and imports the addresses, and scans them in two scans. Between these a directory says who
 * has left. Acknowledges two findings. Throws when the API refuses a request, or something does not end in time.
 */
export const fillDemo = async (
  key: string,
  { directory, port, brokenUrl, signal, cookie }: Settings,
): Promise<void> => {
  const call = async (
    method: "GET" | "POST" | "PUT",
    path: string,
    body?: object,
  ): Promise<Record<string, unknown>> => {
    const isForm = body instanceof FormData;
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      signal,
      headers: { authorization: `Bearer ${key}`, ...(!isForm && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    const json = (await reply.json()) as Record<string, unknown>;
    if (!reply.ok) throw new Error(`${method} ${path}: ${json.error}`);
    return json;
  };

  const importFile = async (name: string): Promise<void> => {
    const form = new FormData();
    form.append("file", new Blob([await readFile(join(import.meta.dirname, "demo", name))]), name);
    await call("POST", "/emails/import/commit", await call("POST", "/emails/import/preview", form));
  };

  const until = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
    for (const deadline = Date.now() + withinMilliseconds; Date.now() < deadline; ) {
      if (await isSo()) return;
      await setTimeout(500, undefined, { signal });
    }
    throw new Error(`${what} did not end in time`);
  };

  const scan = async (): Promise<void> => {
    await call("POST", "/scans");
    await until("A scan", async () => {
      const { scans } = (await call("GET", "/scans?limit=1")) as { scans: { status: string }[] };
      return scans[0]?.status === "completed" || scans[0]?.status === "failed";
    });
  };

  const areDisabled = (many: number): Promise<void> =>
    until("What follows from the directory", async () => {
      const { total } = await call("GET", "/emails?isActive=false&limit=1");
      return total === many;
    });

  const token = cookie.then((value) => connectDemoDirectory({ port, signal, cookie: value }));
  // It is awaited below, unless something else fails before.
  token.catch(() => {});
  for (const { name, body, options } of channelsOf(brokenUrl)) {
    const { id } = await call("POST", "/alert-configs", body);
    const whole = { name, minSeverity: "low", tellOwners: false, ...options };
    await call("PUT", `/alert-configs/${id}/options`, whole);
  }
  await importFile("people.csv");
  await importFile("payroll-people.csv");
  await scan();
  // What the first check of an address finds is no news.
  await publishBreach(directory);
  await importFile("more-people.csv");
  await pushDemoPeople(await token, { port, signal, areDisabled });
  await scan();
  const { breaches } = (await call("GET", "/breaches?acknowledged=false")) as {
    breaches: { id: number; email: string }[];
  };
  const [first, second] = breaches.filter(({ email }) => email === "grace@demo.example");
  for (const [finding, resolution, reason] of [
    [first, "handled", "Invented for demonstration: the password was changed."],
    [second, "ignored", "Invented for demonstration: the account was closed years ago."],
  ] as const) {
    if (finding !== undefined)
      await call("POST", "/breaches/acknowledge", { id: finding.id, resolution, reason });
  }
};
