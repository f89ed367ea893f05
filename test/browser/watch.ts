import type { BrowserContext, ConsoleMessage } from "playwright-core";

/** The page asks whether somebody is signed in, and browsers log the answer no as an error. */
const always = ["401 /api/dashboard/session"];

export type Watch = {
  /**
   * Expects refusals, also those that have come already, such as "409 /api/v1/emails", or
   * "ERR_INTERNET_DISCONNECTED /api/v1/emails"; or requests to another origin, such as "request to
   * https://login.example".
   */
  expect: (...refusals: string[]) => void;
  /** What went wrong since the last call. */
  take: () => string[];
};

/**
 * Watches all pages of a context for console errors, reports of the Content-Security-Policy, exceptions and
 * requests to other hosts. Refusals count as errors unless they are expected.
 */
export const watch = async (context: BrowserContext, origin: string): Promise<Watch> => {
  const expected = new Set(always);
  let seen: string[] = [];
  await context.addInitScript(
    `addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
       console.error("Content-Security-Policy", effectiveDirective, blockedURI));`,
  );
  context.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    const refusal = refusalOf(message);
    // On a busy machine the service has no time for some requests, and pages ask again.
    if (refusal?.startsWith("503 ")) return;
    seen.push(refusal ?? message.text());
  });
  context.on("weberror", (error) => seen.push(String(error.error())));
  context.on("request", (request) => {
    const { protocol, origin: other } = new URL(request.url());
    if (protocol === "data:" || other === origin || expected.has(`request to ${other}`)) return;
    seen.push(`request to ${request.url()}`);
  });
  return {
    expect: (...refusals) => {
      for (const each of refusals) expected.add(each);
    },
    take: () => {
      const wrong = seen.filter((each) => !expected.has(each));
      seen = [];
      return wrong;
    },
  };
};

/** "404 /path" for what browsers log about a reply with an error status, "ERR_… /path" where there is none. */
function refusalOf(message: ConsoleMessage): string | undefined {
  const [, status] =
    /^Failed to load resource: .*(?:status of |net::)(\d{3}|ERR_\w+)/.exec(message.text()) ?? [];
  return status && `${status} ${new URL(message.location().url).pathname}`;
}
