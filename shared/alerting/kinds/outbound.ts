import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import net, { type LookupFunction, type Socket } from "node:net";
import { addAbortSignal } from "node:stream";
import tls from "node:tls";
import ipaddr from "ipaddr.js";
import { sendTimeoutSeconds } from "../../contract/alert-timing.ts";
import { shownBody } from "./answer.ts";
import {
  type Destination,
  parseDestination,
  type ResolvedAddress,
  resolveDestination,
} from "./destination.ts";
import type { AttemptResult } from "./kind.ts";

const userAgent = "breach-monitor/1";
const maximumHeaderBytes = 16 * 1024;
const maximumBodyBytes = 16 * 1024;

/** How long a body is waited for that decides nothing. */
const failureBodyMilliseconds = 500;

/** After this time without a connection, the next address of the name is tried. */
const nextAddressAfterMilliseconds = 2000;

/** A receiver that asks for a longer pause gets this one. */
const maximumRetryAfterSeconds = 3_600;

/**
 * Posts JSON to a public HTTPS url; each call checks the rules of destination.ts again. One deadline covers
 * DNS, connecting, TLS, headers and body. Redirects and the environment's proxies are never followed.
 *
 * A 2xx status means delivered, even with malformed headers behind it or a body that fails (16 KiB are read).
 * Everything else is a `failure`: the function never throws, and it leaves no open socket and no timer.
 */
export const post = async ({
  url,
  headers,
  body,
  deadlineSeconds = sendTimeoutSeconds,
  finalStatuses = [],
  throttledStatuses = [],
}: {
  url: string;
  headers: Record<string, string>;
  body: Buffer | string;
  deadlineSeconds?: number;
  /** Those that make further attempts useless. */
  finalStatuses?: readonly number[];
  /** Those of a receiver that is to be asked later, in attempts that do not count. */
  throttledStatuses?: readonly number[];
}): Promise<AttemptResult> => {
  const deadline = new AbortController();
  const { signal } = deadline;
  const timer = setTimeout(() => deadline.abort(), deadlineSeconds * 1000);
  let socket: Socket | undefined;
  try {
    const destination = parseDestination(url);
    if (!destination.ok) return { failure: destination.reason };
    const resolved = await resolveDestination(destination, { signal });
    if (!resolved.ok) return { failure: resolved.reason };
    socket = await connectTo(destination, resolved.addresses, signal);
    const { status, message } = await request(socket, destination.url, headers, body);
    const isDelivered = status >= 200 && status < 300;
    // The status alone decides. The body is read so that the receiver can finish writing it, and for people.
    const text = await readSome(message, isDelivered ? undefined : failureBodyMilliseconds);
    const response = { status, body: shownBody(text, { url: destination.url, headers }) };
    if (isDelivered) return { status, response };
    const failure = isRedirect(status) ? `redirect (${status}) not followed` : `HTTP ${status}`;
    return {
      failure,
      response,
      ...(throttledStatuses.includes(status) && { retryAfterSeconds: retryAfterOf(message?.headers) }),
      ...(finalStatuses.includes(status) && { isFinal: true }),
    };
  } catch (error) {
    return { failure: signal.aborted ? "timeout" : describeFailure(error) };
  } finally {
    clearTimeout(timer);
    socket?.destroy();
  }
};

/** The seconds of a Retry-After header (RFC 9110, section 10.2.3); 0 for a date, and without the header. */
const retryAfterOf = (headers: IncomingHttpHeaders = {}): number =>
  /^\d{1,9}$/.test(headers["retry-after"] ?? "")
    ? Math.min(maximumRetryAfterSeconds, Number(headers["retry-after"]))
    : 0;

/**
 * Connects to one of the checked addresses, even if the name resolves to others by now; TLS verifies the name
 * as usual. The signal destroys the connection, also after it was returned.
 */
const connectTo = async (
  { url, host }: Destination,
  addresses: ResolvedAddress[],
  signal: AbortSignal,
): Promise<Socket> => {
  const isSecure = url.protocol === "https:";
  const lookup: LookupFunction = (_name, _options, callback) => callback(null, addresses);
  const options = {
    // An address is not looked up: it is itself the checked address.
    host: host.kind === "name" ? host.name : host.address,
    port: url.port === "" ? (isSecure ? 443 : 80) : Number(url.port),
    lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressAfterMilliseconds,
  };
  const socket = isSecure
    ? tls.connect({
        ...options,
        ...(host.kind === "name" && { servername: host.name }),
        ALPNProtocols: ["http/1.1"],
        // Explicit, because the environment's NODE_TLS_REJECT_UNAUTHORIZED would change the default.
        rejectUnauthorized: true,
      })
    : net.connect(options);
  // `once` and `request` report errors while they wait; without a listener an error in between would end the
  // process.
  socket.on("error", () => undefined);
  addAbortSignal(signal, socket);
  await once(socket, isSecure ? "secureConnect" : "connect");
  if (!hasPeerAmong(addresses, socket)) {
    socket.destroy();
    throw new ConnectionError("UNEXPECTED_PEER");
  }
  return socket;
};

/** `message` is undefined when nothing but the status line could be read. */
type Response = { status: number; message?: IncomingMessage };

/** Sends a POST and resolves once the headers of the response are there. Rejects when the socket closes. */
const request = (
  socket: Socket,
  { host, pathname, search }: URL,
  headers: Record<string, string>,
  body: Buffer | string,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    let beginning = "";
    httpRequest({
      // Without an agent no proxy of the environment applies.
      createConnection: () => socket,
      method: "POST",
      path: pathname + search,
      headers: {
        host,
        "user-agent": userAgent,
        // Without it some web application firewalls refuse the request.
        accept: "*/*",
        "content-type": "application/json",
        ...headers,
      },
      maxHeaderSize: maximumHeaderBytes,
    })
      .on("socket", () => {
        // In front of the parser, which may refuse these bytes.
        socket.prependListener("data", (bytes: Buffer) => {
          if (beginning.length < longestStatusLine)
            beginning += bytes.toString("latin1", 0, longestStatusLine);
        });
      })
      .on("response", (message) => resolve({ status: message.statusCode ?? 0, message }))
      .on("error", (error) => {
        // Some receivers end their response without the empty line behind its headers.
        const isAnswered = isMalformed.test(findCode(error)) || socket.readableEnded;
        const status = isAnswered ? statusIn(beginning) : undefined;
        if (status === undefined) reject(error);
        else resolve({ status });
      })
      // Neither event comes when the receiver switches protocols.
      .on("close", () => reject(new ConnectionError("ECONNRESET")))
      .end(body);
  });

/**
 * Codes of headers that Node's parser refuses, for example with two lengths of the body. Not that they are too large.
 */
const isMalformed = /^HPE_(?!HEADER_OVERFLOW$)/;

/** In characters, up to its reason. */
const longestStatusLine = 32;

/** The final status in the first line of a response (RFC 9112, section 4). */
const statusIn = (beginning: string): number | undefined => {
  const [, status] = /^\s*HTTP\/1\.\d ([2-5]\d\d)(?!\S)/.exec(beginning) ?? [];
  return status === undefined ? undefined : Number(status);
};

/** The beginning of a body. One that fails, or takes longer than `milliseconds`, gives what has arrived. */
const readSome = async (message: IncomingMessage | undefined, milliseconds?: number): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = milliseconds === undefined ? undefined : setTimeout(() => message?.destroy(), milliseconds);
  try {
    for await (const chunk of message ?? []) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > maximumBodyBytes) break;
    }
  } catch {
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString("utf8", 0, maximumBodyBytes);
};

class ConnectionError extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

const hasPeerAmong = (addresses: ResolvedAddress[], { remoteAddress }: Socket): boolean => {
  if (remoteAddress === undefined) return false;
  const peer = ipaddr.parse(remoteAddress).toString();
  return addresses.some(({ address }) => ipaddr.parse(address).toString() === peer);
};

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/** Reasons by error code of Node or OpenSSL. The first pattern that matches counts. */
const reasons: [RegExp, string][] = [
  [/^UNEXPECTED_PEER$/, "destination is not public"],
  [/^ECONNREFUSED$/, "connection refused"],
  [/^(ECONNRESET|EPIPE)$/, "connection reset"],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, "host unreachable"],
  [/^ETIMEDOUT$/, "timeout"],
  [/CERT|^UNABLE_TO_|^(HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)$/, "TLS certificate not valid"],
  [/^(EPROTO|ERR_SSL_|ERR_TLS_)/, "TLS handshake failed"],
  [/^HPE_HEADER_OVERFLOW$/, "response headers too large"],
  [/^HPE_/, "not a valid HTTP response"],
];

const describeFailure = (error: unknown): string => {
  const code = findCode(error);
  return reasons.find(([pattern]) => pattern.test(code))?.[1] ?? "connection failed";
};

const findCode = (error: unknown): string => {
  if (!(error instanceof Error)) return "";
  // An AggregateError holds the error of each address that was tried; the first stands for all.
  if (error instanceof AggregateError) return findCode(error.errors[0]);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause === undefined ? error.name : findCode(error.cause);
};
