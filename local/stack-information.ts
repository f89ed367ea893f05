import type { IncomingMessage, ServerResponse } from "node:http";

/** What the admin command line has to know of a running local service. */
export type StackInformation = {
  stackName: string;
  region: string;
  outputs: Readonly<Record<string, string>>;
  /** Variables with which an AWS SDK reaches the service's resources with full rights, and HIBP's address. */
  environment: Readonly<Record<string, string>>;
  dataDirectory: string;
};

const path = "/.local/stack";

/** Answers GET /.local/stack. Returns whether the request was for it. */
export const answerStackInformation = (
  information: StackInformation,
  request: IncomingMessage,
  response: ServerResponse,
): boolean => {
  if (request.url !== path) return false;
  const isAllowed = request.method === "GET" && isFromThisMachine(request);
  const body = isAllowed ? information : { error: "Only a program on this machine may GET this" };
  response.writeHead(isAllowed ? 200 : 403, {
    "content-type": "application/json",
    "cache-control": "no-store",
  });
  response.end(JSON.stringify(body));
  return true;
};

/**
 * Whether no web page can have made the request. For a page of another origin the browser sends Origin or
 * Sec-Fetch-Site; a page that points its own name at 127.0.0.1 (DNS rebinding) has that name in Host.
 */
const isFromThisMachine = (request: IncomingMessage): boolean => {
  const { host = "", origin, "sec-fetch-site": site } = request.headers;
  return (
    /^(127\.\d+\.\d+\.\d+|localhost)(:\d+)?$/.test(host) &&
    origin === undefined &&
    (site === undefined || site === "none") &&
    /^(::ffff:)?127\./.test(request.socket.remoteAddress ?? "")
  );
};
