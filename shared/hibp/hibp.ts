/**
 * The client of Have I Been Pwned, API v3 (https://haveibeenpwned.com/API/v3), at HIBP_BASE_URL or the public
 * address. The API key is in the encrypted parameter HIBP_API_KEY_PARAMETER. Callers take a grant of the rate
 * limiter first (upstream.ts), except for `latestBreach`.
 *
 * Each function makes one request, or two when the key has just been rotated. It throws `UpstreamFailure`
 * when there is no trustworthy answer, so that no failure reads as "no breaches".
 */
import { SSMProvider } from "@aws-lambda-powertools/parameters/ssm";
import { ParameterNotFound } from "@aws-sdk/client-ssm";
import * as z from "zod/mini";
import { timeouts } from "../aws/timeouts.ts";
import { readAtMost } from "../contract/read-at-most.ts";
import { text } from "../contract/text.ts";
import { type BreachDetails, breachName, time, upstreamBreach } from "./breach.ts";

/**
 * - `rate_limited`: 429; the key must rest for `retryAfterSeconds`.
 * - `unauthorized`: 401; the key is missing, malformed or revoked, or its plan lacks this endpoint.
 * - `no_subscription`: 402, or 404 of `subscription/status`; nobody pays for the key.
 * - `forbidden`: 403; the plan lacks this endpoint or does not cover this domain.
 * - `blocked`: 403 with an HTML page; HIBP's edge does not let the service through.
 * - `bad_request`: 400, or another 4xx of `subscribeddomains` and `breacheddomain`; HIBP refuses this address
 *   or domain, or the plan lacks this endpoint.
 * - `unavailable`: 5xx, timeout, broken connection, redirect, malformed or oversized answer.
 *
 * docs/hibp.md says what the service does then.
 */
export type UpstreamFailureKind =
  | "rate_limited"
  | "unauthorized"
  | "no_subscription"
  | "forbidden"
  | "blocked"
  | "bad_request"
  | "unavailable";

/** Its message names neither the key nor the address. */
export class UpstreamFailure extends Error {
  override name = "UpstreamFailure";
  readonly kind: UpstreamFailureKind;
  /** How long the key must rest after `rate_limited`; 0 for other kinds. */
  readonly retryAfterSeconds: number;

  constructor(kind: UpstreamFailureKind, message: string, retryAfterSeconds = 0) {
    super(message);
    this.kind = kind;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

const publicBaseUrl = "https://haveibeenpwned.com/api/v3";

/** HIBP blocks by user agent, and asks that it tell who is calling. HIBP_CONTACT: an e-mail address or a url. */
const userAgent = (): string => {
  const { HIBP_CONTACT: contact } = process.env;
  return contact ? `breach-monitor (${contact})` : "breach-monitor";
};

const keyMaxAgeSeconds = 300;

/** A full window of HIBP's rate limit: after it, earlier requests no longer count. */
const defaultRetryAfterSeconds = 60;
const maxRetryAfterSeconds = 86_400;

const megabyte = 1_000_000;

/** Ten times as many as there are. */
const maximumListed = 10_000;

/** All breaches that HIBP lists, without entries that have no usable name. */
export const breaches = async (timeoutSeconds = 60): Promise<BreachDetails[]> => {
  const answer = await ask("breaches", "", { timeoutSeconds, maxBytes: 64 * megabyte });
  const entries = parse("breaches", z.array(z.unknown()), answer);
  const known = entries.flatMap((entry) => upstreamBreach.safeParse(entry).data ?? []);
  if ((known.length === 0 && entries.length > 0) || known.length > maximumListed) throw malformed("breaches");
  return known;
};

/** The breach that HIBP added last. Needs neither the key nor a grant of the rate limiter. */
export const latestBreach = async (): Promise<BreachDetails> => {
  const answer = await request("latestbreach", "", { timeoutSeconds: 10, maxBytes: megabyte });
  return parse("latestbreach", upstreamBreach, answer);
};

/** Local part of an address (lower case) → breach names, for the breached addresses of a domain. */
export const breachedDomain = async (domain: string): Promise<Map<string, string[]>> => {
  const answer = await ask("breacheddomain", encode(domain), {
    timeoutSeconds: 60,
    maxBytes: 64 * megabyte,
  });
  const aliases = new Map<string, string[]>();
  if (answer === notFound) return aliases;
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) {
    throw malformed("breacheddomain");
  }
  // Keeps one string for each name: a large answer mentions the same few names a million times.
  const checked = new Map<unknown, string>();
  const check = (name: unknown): string => {
    const known = checked.get(name) ?? parse("breacheddomain", breachName, name);
    checked.set(name, known);
    return known;
  };
  const list = answer as Record<string, unknown>;
  for (const alias of Object.keys(list)) {
    const names = list[alias];
    if (!Array.isArray(names)) throw malformed("breacheddomain");
    const key = alias.toLowerCase();
    aliases.set(key, [...new Set([...(aliases.get(key) ?? []), ...names.map(check)])]);
  }
  return aliases;
};

/** HIBP names hundreds of websites for some addresses. */
const maximumWebsites = 50;

const website = text(253);

/** For a domain: local part of an address (lower case) → the first websites of its logins in stealer logs. */
export const stealerLogs = async (domain: string): Promise<Map<string, string[]>> => {
  const answer = await ask("stealerlogsbyemaildomain", encode(domain), {
    timeoutSeconds: 60,
    maxBytes: 64 * megabyte,
  });
  if (answer === notFound) return new Map();
  const list = parse("stealerlogsbyemaildomain", z.record(z.string(), z.array(z.unknown())), answer);
  return new Map(
    Object.entries(list).map(([alias, websites]) => [
      alias.toLowerCase(),
      [...new Set(websites.flatMap((each) => website.safeParse(each).data ?? []))].slice(0, maximumWebsites),
    ]),
  );
};

/** The names of the breaches with this address. HIBP leaves out sensitive and retired breaches. */
export const breachedAccount = async (address: string): Promise<string[]> => {
  const answer = await ask("breachedaccount", `${encode(address)}?truncateResponse=true`, {
    timeoutSeconds: 10,
    maxBytes: 4 * megabyte,
  });
  if (answer === notFound) return [];
  const entries = parse("breachedaccount", z.array(z.object({ Name: breachName })), answer);
  return [...new Set(entries.map((entry) => entry.Name))];
};

const countOrNull = z.catch(z.nullable(z.int().check(z.minimum(0))), null);
const flag = z.catch(z.boolean(), false);

/** A field that is missing or malformed does not make the whole answer fail. */
const subscribedDomainForm = z.object({
  DomainName: z.string(),
  PwnCount: countOrNull,
  PwnCountExcludingSpamLists: countOrNull,
  PwnCountExcludingSpamListsAtLastSubscriptionRenewal: countOrNull,
  NextSubscriptionRenewal: time,
});

/**
 * A domain that was verified at HIBP, in lower case. The counts are of its breached addresses, null before its first
 * search: in all, without spam lists, and without spam lists when the subscription was last renewed. The last one
 * decides until `nextRenewal` (ISO 8601) whether the domain is too large for the plan.
 */
export type SubscribedDomain = Awaited<ReturnType<typeof subscribedDomains>>[number];

export const subscribedDomains = async () => {
  const answer = await ask("subscribeddomains", "", { timeoutSeconds: 30, maxBytes: 32 * megabyte });
  const entries = parse("subscribeddomains", z.array(subscribedDomainForm), answer);
  const byName = new Map(entries.map((entry) => [entry.DomainName.toLowerCase(), entry]));
  return [...byName].map(([name, entry]) => ({
    name,
    pwnCount: entry.PwnCount,
    pwnCountWithoutSpam: entry.PwnCountExcludingSpamLists,
    pwnCountAtRenewal: entry.PwnCountExcludingSpamListsAtLastSubscriptionRenewal,
    nextRenewal: entry.NextSubscriptionRenewal,
  }));
};

const textOrNull = z.catch(z.nullable(z.string().check(z.maxLength(200))), null);

/** A field that is missing or malformed, except for the rate, does not make the whole answer fail. */
const subscriptionForm = z.object({
  Rpm: z.int().check(z.positive()),
  SubscriptionName: textOrNull,
  Description: textOrNull,
  SubscribedUntil: time,
  DomainSearchMaxBreachedAccounts: countOrNull,
  MaxBreachedDomains: countOrNull,
  IncludesStealerLogs: flag,
  IncludesBulkDomainAdd: flag,
  IncludesAutoSubdomainVerification: flag,
  IncludesCustomerDomains: z.catch(z.nullable(z.boolean()), null),
  IncludesKAnon: flag,
});

/**
 * What the key's subscription allows. `rpm`: requests a minute; `subscribedUntil`: ISO 8601;
 * `maxBreachedAccounts`: breached addresses of the largest domain that it searches; `maxDomains`: null is
 * without limit; `includesCustomerDomains`: null if HIBP does not say.
 */
export type SubscriptionStatus = Awaited<ReturnType<typeof subscriptionStatus>>;

export const subscriptionStatus = async () => {
  const answer = await ask("subscription/status", "", { timeoutSeconds: 30, maxBytes: megabyte });
  const status = parse("subscription/status", subscriptionForm, answer);
  return {
    rpm: status.Rpm,
    plan: status.SubscriptionName?.toWellFormed() ?? null,
    description: status.Description?.toWellFormed() ?? null,
    subscribedUntil: status.SubscribedUntil,
    maxBreachedAccounts: status.DomainSearchMaxBreachedAccounts,
    maxDomains: status.MaxBreachedDomains,
    includesStealerLogs: status.IncludesStealerLogs,
    includesBulkDomainAdd: status.IncludesBulkDomainAdd,
    includesAutoSubdomainVerification: status.IncludesAutoSubdomainVerification,
    includesCustomerDomains: status.IncludesCustomerDomains,
    includesKAnon: status.IncludesKAnon,
  };
};

/**
 * Whether an endpoint answers this key, for people who try it. A 404 of a look-up is an answer. Throws
 * `UpstreamFailure`.
 */
export const probe = async (resource: Resource, argument = ""): Promise<void> => {
  await ask(resource, encode(argument), { timeoutSeconds: 60, maxBytes: 64 * megabyte });
};

const lookUps: readonly Resource[] = [
  "breacheddomain",
  "breachedaccount",
  "breachedaccount/range",
  "stealerlogsbyemail",
  "stealerlogsbywebsitedomain",
  "stealerlogsbyemaildomain",
];

/** Stands for a 404, which as an answer to a look-up means: no breaches. */
const notFound = Symbol("not found");

/** Some of them are only tried (`probe`). */
export type Resource =
  | "breaches"
  | "latestbreach"
  | "dataclasses"
  | "breacheddomain"
  | "breachedaccount"
  | "breachedaccount/range"
  | "stealerlogsbyemail"
  | "stealerlogsbywebsitedomain"
  | "stealerlogsbyemaildomain"
  | "subscribeddomains"
  | "subscription/status";
type Bounds = { timeoutSeconds: number; maxBytes: number };

const ask = async (resource: Resource, argument: string, bounds: Bounds): Promise<unknown> => {
  const key = await apiKey();
  try {
    return await request(resource, argument, bounds, key);
  } catch (error) {
    if (!(error instanceof UpstreamFailure && error.kind === "unauthorized")) throw error;
    // The key may have been rotated since it was read.
    const freshKey = await apiKey({ forceFetch: true });
    if (freshKey === key) throw error;
    return request(resource, argument, bounds, freshKey);
  }
};

const request = async (
  resource: Resource,
  argument: string,
  { timeoutSeconds, maxBytes }: Bounds,
  key?: string,
): Promise<unknown> => {
  const base = (process.env.HIBP_BASE_URL ?? publicBaseUrl).replace(/\/+$/, "");
  let body: string;
  try {
    const response = await fetch(`${base}/${resource}${argument === "" ? "" : `/${argument}`}`, {
      headers: {
        "user-agent": userAgent(),
        accept: "application/json",
        ...(key !== undefined && { "hibp-api-key": key }),
      },
      // A followed redirect would carry the key to another host.
      redirect: "manual",
      signal: AbortSignal.timeout(Math.ceil(timeoutSeconds * 1_000)),
    });
    if (response.status !== 200) {
      const isPage = await hasPage(response);
      // HIBP's own 404 is no page: one comes from the edge, or from a wrong HIBP_BASE_URL.
      if (response.status === 404 && lookUps.includes(resource) && !isPage) return notFound;
      throw failureOf(resource, response, isPage);
    }
    const tooLarge = () => new UpstreamFailure("unavailable", `HIBP's answer to ${resource} is too large`);
    body = new TextDecoder().decode(await readAtMost(response, maxBytes, tooLarge));
  } catch (error) {
    if (error instanceof UpstreamFailure) throw error;
    // Without the cause, since messages of `fetch` can quote the url, which holds the address.
    const timedOut = error instanceof Error && error.name === "TimeoutError";
    throw new UpstreamFailure(
      "unavailable",
      timedOut
        ? `HIBP did not answer ${resource} within ${timeoutSeconds} seconds`
        : `The connection to HIBP failed during ${resource}`,
    );
  }
  try {
    return JSON.parse(body);
  } catch {
    throw malformed(resource);
  }
};

/** Whether the body is an HTML page. Closes the connection. */
const hasPage = async (response: Response): Promise<boolean> => {
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  const isHtml = response.headers.get("content-type")?.startsWith("text/html") ?? false;
  return isHtml || new TextDecoder().decode(value).trimStart().startsWith("<");
};

const failureOf = (resource: Resource, response: Response, isPage: boolean): UpstreamFailure => {
  const message = `HIBP answered ${response.status}${isPage ? " with a page" : ""} to ${resource}`;
  if (response.status === 404 && resource === "subscription/status" && !isPage) {
    return new UpstreamFailure("no_subscription", message);
  }
  switch (response.status) {
    case 400:
      return new UpstreamFailure("bad_request", message);
    case 401:
      return new UpstreamFailure("unauthorized", `${message}: the API key is not accepted`);
    case 402:
      return new UpstreamFailure("no_subscription", message);
    case 403:
      return new UpstreamFailure(isPage ? "blocked" : "forbidden", message);
    case 429:
      return new UpstreamFailure(
        "rate_limited",
        message,
        retryAfterSeconds(response.headers.get("retry-after")),
      );
    default:
      return new UpstreamFailure(
        !isPage && isRefusal(response.status) && ofDomainSearch.includes(resource)
          ? "bad_request"
          : "unavailable",
        message,
      );
  }
};

/** HIBP does not document by which status it says that a plan has no domain search. */
const ofDomainSearch: readonly Resource[] = ["subscribeddomains", "breacheddomain"];

/** A timeout (408) says nothing about the request. */
const isRefusal = (status: number): boolean => status >= 400 && status < 500 && status !== 408;

/** The seconds of a Retry-After header, which may be a number or a date. */
const retryAfterSeconds = (header: string | null): number => {
  const text = header?.trim() ?? "";
  const seconds = /^\d+(\.\d+)?$/.test(text)
    ? Number(text)
    : /[a-z]/i.test(text)
      ? (Date.parse(text) - Date.now()) / 1_000
      : Number.NaN;
  if (Number.isNaN(seconds)) return defaultRetryAfterSeconds;
  return Math.min(maxRetryAfterSeconds, Math.max(1, Math.ceil(seconds)));
};

const parse = <T>(resource: Resource, schema: z.ZodMiniType<T>, answer: unknown): T => {
  const parsed = schema.safeParse(answer);
  if (!parsed.success) throw malformed(resource);
  return parsed.data;
};

export const malformed = (resource: Resource): UpstreamFailure =>
  new UpstreamFailure("unavailable", `HIBP's answer to ${resource} is malformed`);

const encode = (argument: string): string => {
  if (!argument.isWellFormed())
    throw new UpstreamFailure("bad_request", "The address cannot be encoded as a url");
  return encodeURIComponent(argument);
};

let parameters: SSMProvider | undefined;

const apiKey = async ({ forceFetch = false } = {}): Promise<string> => {
  const name = process.env.HIBP_API_KEY_PARAMETER ?? "";
  parameters ??= new SSMProvider({ clientConfig: { maxAttempts: 3, requestHandler: timeouts } });
  const stored = await parameters
    .get(name, { maxAge: keyMaxAgeSeconds, forceFetch, decrypt: true })
    .catch((error: Error) => {
      if (error.cause instanceof ParameterNotFound) return undefined;
      throw new UpstreamFailure("unavailable", `The parameter ${name} with the HIBP API key cannot be read`);
    });
  const key = typeof stored === "string" ? stored.trim() : "";
  // Checked here, because `fetch` would quote a value that no header can have in its error.
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  // What is cached may have been replaced since.
  if (!forceFetch) return apiKey({ forceFetch: true });
  throw new UpstreamFailure(
    "unauthorized",
    `Store an HIBP API key in the parameter ${name}: there is no usable one`,
  );
};
