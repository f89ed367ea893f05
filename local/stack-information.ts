import type { IncomingMessage, ServerResponse } from "node:http";

/** What the admin command line needs to know of a running local service. */
export interface StackInformation {
  readonly stackName: string;
  readonly region: string;
  readonly outputs: Readonly<Record<string, string>>;
  /** Variables with which an AWS SDK reaches the service's resources with full rights. */
  readonly environment: Readonly<Record<string, string>>;
  readonly dataDirectory: string;
}

const path = "/.local/stack";

/** Answers GET /.local/stack. Returns whether the request was for it. */
export function answerStackInformation(
  information: StackInformation,
  request: IncomingMessage,
  response: ServerResponse,
): boolean {
  if (request.url !== path) {
    return false;
  }
  const isAllowed = request.method === "GET" && isFromThisMachine(request);
  const body = isAllowed ? information : { error: "Only a program on this machine may GET this" };
  response.writeHead(isAllowed ? 200 : 403, {
    "content-type": "application/json",
    "cache-control": "no-store",
  });
  response.end(JSON.stringify(body));
  return true;
}

/**
 * Whether no web page can have made a request: a page of another origin has its browser send Origin or Sec-Fetch-Site, and one
 * that points its own name at 127.0.0.1 (DNS rebinding) has that name in Host.
 */
function isFromThisMachine(request: IncomingMessage): boolean {
  const { host = "", origin, "sec-fetch-site": site } = request.headers;
  return (
    /^(127\.\d+\.\d+\.\d+|localhost)(:\d+)?$/.test(host) &&
    origin === undefined &&
    (site === undefined || site === "none") &&
    /^(::ffff:)?127\./.test(request.socket.remoteAddress ?? "")
  );
}
