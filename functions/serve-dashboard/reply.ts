/** What the page's function answers. */
import { extname } from "node:path";
import type { APIGatewayProxyEvent, APIGatewayProxyResult } from "aws-lambda";
import { refusals } from "../../shared/contract/errors.ts";
import { isPlainHttp } from "../../shared/contract/plain-http.ts";
import type { PageFiles } from "./files.ts";

const pagePath = "/api/app/";
const mainFile = "index.html";

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** Everything that browsers let a page ask for, but writing to the clipboard, which is what Copy does, and passkeys. */
const deniedFeatures = [
  "accelerometer",
  "autoplay",
  "camera",
  "clipboard-read",
  "display-capture",
  "encrypted-media",
  "fullscreen",
  "geolocation",
  "gyroscope",
  "hid",
  "idle-detection",
  "local-fonts",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "picture-in-picture",
  "screen-wake-lock",
  "serial",
  "storage-access",
  "usb",
  "window-management",
  "xr-spatial-tracking",
];

const securityHeaders = {
  "Content-Security-Policy": contentSecurityPolicy,
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": deniedFeatures.map((feature) => `${feature}=()`).join(", "),
};

const strictTransportSecurity = { "Strict-Transport-Security": "max-age=63072000" };

const cacheControl = {
  hashed: "public, max-age=31536000, immutable",
  revalidated: "no-cache",
  never: "no-store",
};

/**
 * The reply to a request. A path of a file gets it, and one with the extension of a missing file gets 404.
 * Every other path gets the page, whose router takes it. The root of the API leads to the page.
 */
export function replyWith(files: PageFiles, event: APIGatewayProxyEvent): APIGatewayProxyResult {
  const { statusCode, headers, body } = answer(files, event);
  const all = {
    ...securityHeaders,
    "X-Request-Id": event.requestContext.extendedRequestId ?? "",
    ...(!isPlainHttp() && strictTransportSecurity),
    ...headers,
  };
  return { statusCode, headers: all, body: body ?? "" };
}

type Answer = { statusCode: number; headers: Record<string, string>; body?: string };

function answer(files: PageFiles, event: APIGatewayProxyEvent): Answer {
  if (event.httpMethod !== "GET" && event.httpMethod !== "HEAD") {
    return refuse(refusals.methodNotAllowed, { Allow: "GET, HEAD" });
  }
  if (event.resource === "/") {
    const headers = { Location: pagePath, "Cache-Control": cacheControl.never };
    return { statusCode: 302, headers: { ...headers, "Content-Type": "text/plain; charset=utf-8" } };
  }
  const path = event.pathParameters?.proxy ?? mainFile;
  // A page of a former release that got HTML for its script would show nothing and say nothing.
  if (!files.has(path) && extname(path) !== "") return refuse(refusals.notFound);
  const name = files.has(path) ? path : mainFile;
  const file = files.get(name);
  if (file === undefined) throw new Error(`The bundle has no ${name}`);
  const { contentType, text, etag, isHashed } = file;
  const headers = { "Content-Type": contentType, Vary: "Accept-Encoding" };
  if (name === mainFile) {
    return { statusCode: 200, headers: { ...headers, "Cache-Control": cacheControl.never }, body: text };
  }
  const cached = {
    ...headers,
    ETag: etag,
    "Cache-Control": isHashed ? cacheControl.hashed : cacheControl.revalidated,
  };
  if (isKnown(etag, headerOf(event, "if-none-match"))) return { statusCode: 304, headers: cached };
  return { statusCode: 200, headers: cached, body: text };
}

function refuse(
  { status, error }: { status: number; error: string },
  headers: Record<string, string> = {},
): Answer {
  const all = { "Content-Type": "application/json", "Cache-Control": cacheControl.never, ...headers };
  return { statusCode: status, headers: all, body: JSON.stringify({ error }) };
}

/** Whether the client has it, by the weak comparison of RFC 9110, 13.1.2. */
function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  const opaque = (tag: string): string => tag.trim().replace(/^W\//, "");
  const tags = ifNoneMatch?.split(",").map(opaque) ?? [];
  return tags.includes("*") || tags.includes(opaque(etag));
}

function headerOf({ headers }: APIGatewayProxyEvent, name: string): string | undefined {
  return Object.entries(headers ?? {}).find(([candidate]) => candidate.toLowerCase() === name)?.[1];
}
