import { readFile, stat } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { listenOnLoopback, type Reply } from "./loopback.ts";

/** A breach in HIBP's own form; everything but the name is passed through untouched. */
interface Breach {
  readonly Name: string;
  readonly [field: string]: unknown;
}

interface Breaches {
  readonly catalog: readonly Breach[];
  readonly byName: ReadonlyMap<string, Breach>;
  /** domain → alias → breach names, all lower case. */
  readonly domains: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
}

export interface HibpServer {
  /** Ends in `/api/v3`. */
  readonly url: string;
  close(): Promise<void>;
}

const builtInDirectory = join(import.meta.dirname, "breaches");
const demoDomain = "demo.example";
const rateWindowMilliseconds = 60_000;

/**
 * Serves Have I Been Pwned's API v3 from `catalog.json` (an array of breach objects) and `accounts.json`
 * (`{"address": ["BreachName"]}`) of a directory, or of the built-in invented breaches. Both are read afresh when
 * they change; a broken file leaves the last good content in place and is reported once, as one line.
 *
 * Like the original: single look-ups leave out sensitive and retired breaches, which a domain search returns.
 * @throws Error when the files can't be read at the start.
 */
export async function startHibp(settings: {
  readonly directory: string | undefined;
  readonly apiKey: string;
  /** Address look-ups per minute, told to clients in /subscription/status. */
  readonly rpm?: number;
  readonly report?: (line: string) => void;
}): Promise<HibpServer> {
  const read = await openBreaches(settings.directory ?? builtInDirectory, settings.report ?? console.error);
  const rpm = settings.rpm ?? 12_000;
  const lookUpTimes: number[] = [];
  // A domain stays subscribed when its last breach vanishes from the file, as it would at HIBP.
  const subscribed = new Set([demoDomain]);

  async function respond(request: IncomingMessage): Promise<Reply> {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    const [resource, ...rest] = url.pathname.replace(/^\/api\/v3\//, "").split("/");
    const argument = decodeArgument(rest.join("/"));
    if (!url.pathname.startsWith("/api/v3/") || argument === undefined) {
      return refuse(404, "Not found");
    }
    if (request.method !== "GET") {
      return refuse(405, "Method not allowed");
    }
    if (!request.headers["user-agent"]) {
      return refuse(403, "Missing user agent");
    }
    const breaches = await read();
    for (const domain of breaches.domains.keys()) {
      subscribed.add(domain);
    }

    switch (resource) {
      case "breaches":
        return ok(listBreaches(breaches, url.searchParams));
      case "breach":
        return okOrNotFound(findBreach(breaches, argument));
      case "latestbreach":
        return okOrNotFound([...breaches.catalog].sort((a, b) => compareText(b.AddedDate, a.AddedDate))[0]);
      case "dataclasses":
        return ok(listDataClasses(breaches));
    }

    const key = request.headers["hibp-api-key"];
    if (key !== settings.apiKey) {
      return refuse(401, `Access denied due to ${key ? "invalid" : "missing"} hibp-api-key.`);
    }
    switch (resource) {
      case "breachedaccount": {
        const waitSeconds = takeLookUp(lookUpTimes, rpm);
        if (waitSeconds > 0) {
          return {
            ...refuse(429, `Rate limit is exceeded. Try again in ${waitSeconds} seconds.`),
            headers: { "retry-after": String(waitSeconds) },
          };
        }
        return breachedAccount(breaches, argument, url.searchParams);
      }
      case "breacheddomain":
        if (!subscribed.has(argument.toLowerCase())) {
          return refuse(403, "The domain is not among the subscribed domains.");
        }
        return breachedDomain(breaches, argument);
      case "subscribeddomains":
        return ok([...subscribed].map((domain) => describeDomain(breaches, domain)));
      case "subscription":
        return argument === "status" ? ok(describeSubscription(rpm)) : refuse(404, "Not found");
    }
    return refuse(404, "Not found");
  }

  const server = await listenOnLoopback(respond);
  return { url: `${server.url}/api/v3`, close: server.close };
}

function listBreaches(breaches: Breaches, query: URLSearchParams): readonly Breach[] {
  const domain = query.get("domain")?.toLowerCase();
  return domain === undefined
    ? breaches.catalog
    : breaches.catalog.filter((breach) => String(breach.Domain ?? "").toLowerCase() === domain);
}

function findBreach(breaches: Breaches, name: string): Breach | undefined {
  return breaches.byName.get(name.toLowerCase());
}

function listDataClasses(breaches: Breaches): string[] {
  const classes = new Set<string>();
  for (const breach of breaches.catalog) {
    for (const dataClass of Array.isArray(breach.DataClasses) ? breach.DataClasses : []) {
      classes.add(String(dataClass));
    }
  }
  return [...classes].sort();
}

function breachedAccount(breaches: Breaches, address: string, query: URLSearchParams): Reply {
  const at = address.lastIndexOf("@");
  if (at < 1 || at === address.length - 1 || /\s/.test(address)) {
    return refuse(400, "The account does not comply with an acceptable format.");
  }
  const alias = address.slice(0, at).toLowerCase();
  const names = breaches.domains.get(address.slice(at + 1).toLowerCase())?.get(alias) ?? [];
  const domain = query.get("domain")?.toLowerCase();
  const found = names
    .map((name): Breach => findBreach(breaches, name) ?? { Name: name })
    .filter((breach) => breach.IsSensitive !== true && breach.IsRetired !== true)
    .filter((breach) => query.get("IncludeUnverified") !== "false" || breach.IsVerified !== false)
    .filter((breach) => domain === undefined || String(breach.Domain ?? "").toLowerCase() === domain);
  if (found.length === 0) {
    return { status: 404 };
  }
  const isTruncated = query.get("truncateResponse")?.toLowerCase() !== "false";
  return ok(isTruncated ? found.map(({ Name }) => ({ Name })) : found);
}

function breachedDomain(breaches: Breaches, domain: string): Reply {
  const aliases = breaches.domains.get(domain.toLowerCase());
  return aliases === undefined || aliases.size === 0 ? { status: 404 } : ok(Object.fromEntries(aliases));
}

function describeDomain(breaches: Breaches, domain: string): Record<string, unknown> {
  const aliases = breaches.domains.get(domain) ?? new Map<string, readonly string[]>();
  return {
    DomainName: domain,
    BreachCount: new Set([...aliases.values()].flat()).size,
    PwnCount: aliases.size,
    PwnCountExcludingSpamLists: aliases.size,
    PwnCountExcludingSpamListsAtLastSubscriptionRenewal: aliases.size,
    NextSubscriptionRenewal: "2099-12-31T00:00:00Z",
  };
}

function describeSubscription(rpm: number): Record<string, unknown> {
  return {
    SubscriptionName: "Embedded",
    Description: "The HIBP-compatible server of a local run.",
    SubscribedUntil: "2099-12-31T00:00:00Z",
    Rpm: rpm,
    DomainSearchMaxBreachedAccounts: 10_000_000,
    IncludesStealerLogs: false,
  };
}

/** Counts a look-up if the last minute has room for it. Returns 0, or the seconds until there is room. */
function takeLookUp(times: number[], rpm: number): number {
  const now = Date.now();
  while (times[0] !== undefined && times[0] <= now - rateWindowMilliseconds) {
    times.shift();
  }
  const oldest = times[0];
  if (oldest !== undefined && times.length >= rpm) {
    return Math.max(1, Math.ceil((oldest + rateWindowMilliseconds - now) / 1000));
  }
  times.push(now);
  return 0;
}

/** Returns a function that answers the files' present content, reading them only when they changed. */
async function openBreaches(
  directory: string,
  report: (line: string) => void,
): Promise<() => Promise<Breaches>> {
  const catalogPath = join(directory, "catalog.json");
  const accountsPath = join(directory, "accounts.json");
  let version = await describeVersion(catalogPath, accountsPath);
  let latest = load();
  await latest;

  async function load(): Promise<Breaches> {
    const catalog = checkCatalog(await readJson(catalogPath), catalogPath);
    const accounts = checkAccounts(await readJson(accountsPath), accountsPath);
    return indexBreaches(catalog, accounts);
  }

  async function loadOrKeep(lastGood: Promise<Breaches>): Promise<Breaches> {
    try {
      return await load();
    } catch (error) {
      report(`${(error as Error).message} The last good breaches stay in use.`);
      return lastGood;
    }
  }

  return async () => {
    const found = await describeVersion(catalogPath, accountsPath);
    if (found !== version) {
      version = found;
      latest = loadOrKeep(latest);
    }
    return latest;
  };
}

async function describeVersion(...paths: string[]): Promise<string> {
  const versions = await Promise.all(
    paths.map(async (path) => {
      const file = await stat(path, { bigint: true }).catch(() => undefined);
      return file ? `${file.ino}/${file.mtimeNs}/${file.size}` : "missing";
    }),
  );
  return versions.join(" ");
}

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === "ENOENT" ? `${path} does not exist.` : `${path} can't be read: ${error.code}.`,
    );
  });
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new Error(`${path} is not valid JSON: ${(error as Error).message}.`);
  }
}

function checkCatalog(value: unknown, path: string): Breach[] {
  if (!Array.isArray(value)) {
    throw new Error(`${path} must be an array of breach objects.`);
  }
  for (const [index, breach] of value.entries()) {
    if (typeof breach?.Name !== "string" || breach.Name === "") {
      throw new Error(`${path} has a breach without a Name at position ${index}.`);
    }
  }
  return value;
}

function checkAccounts(value: unknown, path: string): Map<string, string[]> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`${path} must be an object of addresses, each with an array of breach names.`);
  }
  for (const [address, names] of Object.entries(value)) {
    if (!/^[^@\s][^\s]*@[^@\s]+$/.test(address)) {
      throw new Error(`${path} has a key that is not an e-mail address.`);
    }
    if (!Array.isArray(names) || names.some((name) => typeof name !== "string")) {
      throw new Error(`${path} has an address whose value is not an array of breach names.`);
    }
  }
  return new Map(Object.entries(value));
}

function indexBreaches(catalog: Breach[], accounts: Map<string, string[]>): Breaches {
  const domains = new Map<string, Map<string, readonly string[]>>();
  for (const [address, names] of accounts) {
    const at = address.lastIndexOf("@");
    const domain = address.slice(at + 1).toLowerCase();
    const aliases = domains.get(domain) ?? new Map<string, readonly string[]>();
    domains.set(domain, aliases);
    if (names.length > 0) {
      aliases.set(address.slice(0, at).toLowerCase(), names);
    }
  }
  return {
    catalog,
    byName: new Map(catalog.map((breach) => [breach.Name.toLowerCase(), breach])),
    domains,
  };
}

function compareText(a: unknown, b: unknown): number {
  return String(a ?? "").localeCompare(String(b ?? ""));
}

function decodeArgument(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function ok(body: unknown): Reply {
  return { status: 200, body };
}

function okOrNotFound(body: unknown): Reply {
  return body === undefined ? { status: 404 } : ok(body);
}

function refuse(status: number, message: string): Reply {
  return { status, body: { statusCode: status, message } };
}
