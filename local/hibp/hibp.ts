/** A server with what this service asks of Have I Been Pwned's API v3, which stands for it in local runs. */
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { listenOnLoopback, type Reply } from "../loopback.ts";
import * as answers from "./answers.ts";
import { type Breaches, openBreachFiles } from "./breach-files.ts";

export type HibpServer = {
  /** Ends in `/api/v3`. */
  url: string;
  close(): Promise<void>;
};

const builtInDirectory = join(import.meta.dirname, "breaches");
const demoDomain = "demo.example";
const rateWindowMilliseconds = 60_000;

/**
 * Serves the API from `catalog.json` (an array of breach objects) and `accounts.json` (`{"address":
 * ["BreachName"]}`) of a directory, or of the built-in invented breaches. Both files are read afresh when
 * they change. Rejects when they cannot be read at the start.
 */
export const startHibp = async (settings: {
  directory: string | undefined;
  apiKey: string;
  /** Address look-ups per minute, which /subscription/status tells clients. */
  rpm?: number;
  report?: (line: string) => void;
}): Promise<HibpServer> => {
  const { directory = builtInDirectory, apiKey, rpm = 12_000, report = console.error } = settings;
  const read = await openBreachFiles(directory, report);
  const limiter = openLimiter(rpm);
  // A domain stays subscribed when its last breach vanishes from the file, as it would at HIBP.
  const subscribed = new Set([demoDomain]);

  const server = await listenOnLoopback(async (incoming) => {
    const request = readRequest(incoming);
    if ("status" in request) return request;
    const breaches = await read();
    for (const domain of breaches.domains.keys()) subscribed.add(domain);
    // The catalog needs no key.
    if (request.resource === "breaches") return answers.breaches(breaches);
    if (request.resource === "latestbreach") return answers.latestBreach(breaches);
    const key = incoming.headers["hibp-api-key"];
    if (key !== apiKey) {
      return answers.refuse(401, `Access denied due to ${key ? "invalid" : "missing"} hibp-api-key.`);
    }
    return answerWithKey(request, breaches, { limiter, subscribed, rpm });
  });
  return { url: `${server.url}/api/v3`, close: server.close };
};

/** `argument` is the decoded rest of the path behind the resource. */
type Request = { resource: string | undefined; argument: string };

const readRequest = ({ url = "/", method, headers }: IncomingMessage): Request | Reply => {
  const { pathname } = new URL(url, "http://127.0.0.1");
  const [resource, ...rest] = pathname.replace(/^\/api\/v3\//, "").split("/");
  const argument = decode(rest.join("/"));
  if (!pathname.startsWith("/api/v3/") || argument === undefined) return answers.refuse(404, "Not found");
  if (method !== "GET") return answers.refuse(405, "Method not allowed");
  if (!headers["user-agent"]) return answers.refuse(403, "Missing user agent");
  return { resource, argument };
};

const decode = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
};

const answerWithKey = (
  { resource, argument }: Request,
  breaches: Breaches,
  { limiter, subscribed, rpm }: { limiter: Limiter; subscribed: ReadonlySet<string>; rpm: number },
): Reply => {
  switch (resource) {
    case "breachedaccount": {
      const waitSeconds = limiter();
      return waitSeconds === 0
        ? answers.breachedAccount(breaches, argument)
        : {
            ...answers.refuse(429, `Rate limit is exceeded. Try again in ${waitSeconds} seconds.`),
            headers: { "retry-after": String(waitSeconds) },
          };
    }
    case "breacheddomain":
      return subscribed.has(argument.toLowerCase())
        ? answers.breachedDomain(breaches, argument)
        : answers.refuse(403, "The domain is not among the subscribed domains.");
    case "subscribeddomains":
      return answers.subscribedDomains(breaches, subscribed);
    case "subscription":
      return argument === "status" ? answers.subscriptionStatus(rpm) : answers.refuse(404, "Not found");
    default:
      return answers.refuse(404, "Not found");
  }
};

/** Counts a look-up if the last minute has room for it. Returns 0, or the seconds until there is room. */
type Limiter = () => number;

const openLimiter = (rpm: number): Limiter => {
  const times: number[] = [];
  return () => {
    const now = Date.now();
    while (times[0] !== undefined && times[0] <= now - rateWindowMilliseconds) times.shift();
    const oldest = times[0];
    if (oldest !== undefined && times.length >= rpm) {
      return Math.max(1, Math.ceil((oldest + rateWindowMilliseconds - now) / 1000));
    }
    times.push(now);
    return 0;
  };
};
