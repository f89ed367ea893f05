/**
 * A server that stands for Have I Been Pwned's API v3 in local runs. It has the endpoints that the service
 * uses. Endpoints that only `admin upstream test` tries know nothing.
 */
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { listenOnLoopback, type Reply } from "../loopback.ts";
import * as answers from "./answers.ts";
import { type Breaches, openBreachFiles } from "./breach-files.ts";
import { type Plan, type PlanName, plans } from "./plans.ts";

export type HibpServer = {
  /** Ends in `/api/v3`. */
  url: string;
  close(): Promise<void>;
};

export const builtInBreaches = join(import.meta.dirname, "breaches");
const demoDomain = "demo.example";
const rateWindowMilliseconds = 60_000;

/**
 * Serves the API from `catalog.json` (an array of breach objects), `accounts.json`
 * (`{"address": ["BreachName"]}`) and optionally `stealer-logs.json` (`{"address": ["website.example"]}`) of
 * a directory, or of the built-in invented breaches. The files are read afresh when they change. Rejects when
 * they cannot be read at the start.
 */
export const startHibp = async (settings: {
  directory: string | undefined;
  apiKey: string;
  /** Undefined: Pro, with so high a rate that nobody waits for it. */
  plan?: PlanName | undefined;
  /** Address look-ups per minute, which /subscription/status tells clients, instead of the plan's. */
  rpm?: number;
  report?: (line: string) => void;
}): Promise<HibpServer> => {
  const { directory = builtInBreaches, apiKey, report = console.error } = settings;
  const named = settings.plan === undefined ? { ...plans.pro, rpm: 12_000 } : plans[settings.plan];
  const plan = { ...named, rpm: settings.rpm ?? named.rpm };
  const read = await openBreachFiles(directory, report);
  const limiter = openLimiter(plan.rpm);
  // A domain stays subscribed when its last breach vanishes from the file, as it would at HIBP.
  const subscribed = new Set([demoDomain]);

  const server = await listenOnLoopback(async (incoming) => {
    const request = readRequest(incoming);
    if ("status" in request) return request;
    const breaches = await read();
    for (const domain of breaches.domains.keys()) subscribed.add(domain);
    if (request.resource === "breaches") return answers.ok(breaches.catalog);
    if (request.resource === "latestbreach") return answers.latestBreach(breaches);
    if (request.resource === "dataclasses") return answers.ok([]);
    const key = incoming.headers["hibp-api-key"];
    if (key !== apiKey) {
      return answers.refuse(401, `Access denied due to ${key ? "invalid" : "missing"} hibp-api-key.`);
    }
    return answerWithKey(request, breaches, { limiter, subscribed, plan });
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

const notInPlan = answers.refuse(403, "Your HIBP API key does not have access to this resource");
const notSubscribed = answers.refuse(403, "The domain is not among the subscribed domains.");

const answerWithKey = (
  { resource, argument }: Request,
  breaches: Breaches,
  { limiter, subscribed, plan }: { limiter: Limiter; subscribed: ReadonlySet<string>; plan: Plan },
): Reply => {
  const limited = (answer: () => Reply): Reply => {
    const waitSeconds = limiter();
    return waitSeconds === 0
      ? answer()
      : {
          ...answers.refuse(429, `Rate limit is exceeded. Try again in ${waitSeconds} seconds.`),
          headers: { "retry-after": String(waitSeconds) },
        };
  };
  /** What the plan must include, and the domain that must have been verified. */
  const restricted = (isIncluded: boolean, domain: string, answer: () => Reply): Reply => {
    if (!isIncluded) return notInPlan;
    return subscribed.has(domain.toLowerCase()) ? answer() : notSubscribed;
  };
  const { includesDomainSearch, isPro, includesKAnon } = plan;
  switch (resource) {
    case "breachedaccount":
      if (argument.startsWith("range/")) return includesKAnon ? answers.notFound : notInPlan;
      return limited(() => answers.breachedAccount(breaches, argument));
    case "breacheddomain":
      return restricted(includesDomainSearch, argument, () => answers.ofDomain(breaches.domains, argument));
    case "subscribeddomains":
      return includesDomainSearch ? answers.subscribedDomains(breaches, subscribed) : notInPlan;
    case "stealerlogsbyemail":
    case "stealerlogsbywebsitedomain":
      return isPro ? answers.notFound : notInPlan;
    case "stealerlogsbyemaildomain":
      return restricted(isPro, argument, () => answers.ofDomain(breaches.stealerLogs, argument));
    case "subscription":
      return argument === "status" ? answers.subscriptionStatus(plan) : answers.refuse(404, "Not found");
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
