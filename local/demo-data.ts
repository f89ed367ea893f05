/** What the demo organization shows: two channels, invented addresses, two scans and their findings, made through the API. */
import { setTimeout } from "node:timers/promises";
import { request } from "undici";
import { aliasOf, payrollPeople } from "./demo-breaches.ts";

/** The addresses of the first scan and of the second; most are in the built-in invented breaches. */
const people: readonly (readonly [alias: string, owner: string, team?: number][])[] = [
  [
    ["alan", "Alan Turing", 0],
    ["barbara", "Barbara Liskov", 0],
    ["claude", "Claude Shannon", 0],
    ["donald", "Donald Knuth"],
    ["edsger", "Edsger Dijkstra", 0],
    ["frances", "Frances Allen", 1],
    ["grace", "Grace Hopper", 1],
    ["office", "Front desk"],
  ],
  [
    ["katherine", "Katherine Johnson", 1],
    ["margaret", "Margaret Hamilton", 0],
    ["radia", "Radia Perlman", 0],
    ["invoices", "Accounts payable", 1],
  ],
];

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

const scanWithinMilliseconds = 30_000;

/** Between the parts of an upload. */
const boundary = "people";

type Filling = { domainId: number; key: string; teamIds: readonly number[] };

/**
 * Adds the channels and the addresses, scans them in two scans and acknowledges two findings. Throws when the API refuses a
 * request, or a scan does not end in time.
 */
export const fillDemo = async (
  { domainId, key, teamIds }: Filling,
  { port, brokenUrl, signal }: { port: number; brokenUrl: string; signal: AbortSignal },
): Promise<void> => {
  /** A body that is text is an upload. */
  const call = async (
    method: "GET" | "POST" | "PUT",
    path: string,
    body?: object | string,
  ): Promise<Record<string, unknown>> => {
    const reply = await request(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      signal,
      headers: {
        authorization: `Bearer ${key}`,
        "content-type":
          typeof body === "string" ? `multipart/form-data; boundary=${boundary}` : "application/json",
      },
      ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const json = (await reply.body.json()) as Record<string, unknown>;
    if (reply.statusCode < 400) return json;
    throw new Error(`${method} ${path}: ${json.error}`);
  };

  /** In one file: requests one by one would use up the limit of an address. */
  const importPeople = async (): Promise<void> => {
    const lines = payrollPeople.map(
      (owner, index) =>
        `${aliasOf(owner)}@demo.example,${owner},${["Engineering", "Finance", ""][index % 3]}`,
    );
    const file = ["email,name,team", ...lines].join("\n");
    const head = 'Content-Disposition: form-data; name="file"; filename="people.csv"';
    const form = `--${boundary}\r\n${head}\r\n\r\n${file}\r\n--${boundary}--\r\n`;
    await call("POST", "/emails/import/commit", await call("POST", "/emails/import/preview", form));
  };

  const scan = async (): Promise<void> => {
    await call("POST", "/scans");
    for (const deadline = Date.now() + scanWithinMilliseconds; Date.now() < deadline; ) {
      const { scans } = (await call("GET", "/scans?limit=1")) as { scans: { status: string }[] };
      if (scans[0]?.status === "completed" || scans[0]?.status === "failed") return;
      await setTimeout(500, undefined, { signal });
    }
    throw new Error("A scan did not end in time");
  };

  for (const { name, body, options } of channelsOf(brokenUrl)) {
    const { id } = await call("POST", "/alert-configs", body);
    const whole = { name, minSeverity: "low", tellOwners: false, ...options };
    await call("PUT", `/alert-configs/${id}/options`, whole);
  }
  for (const [index, some] of people.entries()) {
    if (index > 0) await importPeople();
    for (const [alias, ownerName, team] of some) {
      const email = `${alias}@demo.example`;
      const teamId = team === undefined ? undefined : teamIds[team];
      await call("POST", "/emails", { email, domainId, ownerName, teamId });
    }
    await scan();
  }
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
