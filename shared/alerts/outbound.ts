import type { LookupFunction, Socket } from "node:net";
import ipaddr from "ipaddr.js";
import { buildConnector, Client } from "undici";
import {
  type Destination,
  parseDestination,
  type ResolvedAddress,
  resolveDestination,
} from "./destination.ts";

const userAgent = "breach-monitor/1";
const maximumHeaderBytes = 16 * 1024;
const maximumBodyBytes = 16 * 1024;

/** How long one address may take to connect while others are left to try, in milliseconds. */
const nextAddressAfterMilliseconds = 2000;

/** `failure` is a short reason for people. It never contains the url, a header or a part of the answer. */
export type Outcome = { status: number } | { failure: string };

/**
 * Posts JSON to a public HTTPS url, guarded afresh (destination.ts). One deadline holds for DNS, connecting, TLS, headers
 * and body. Redirects and the environment's proxies are never followed.
 *
 * `status` means delivered: 2xx, whatever becomes of the body, of which at most 16 KiB are read. Everything else is a
 * `failure`; nothing is thrown. Afterwards no socket and no timer is left.
 */
export async function post(input: {
  url: string;
  headers: Record<string, string>;
  body: Buffer | string;
  deadlineSeconds?: number;
}): Promise<Outcome> {
  const { url, headers, body, deadlineSeconds = 10 } = input;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), deadlineSeconds * 1000);
  try {
    const destination = parseDestination(url);
    if (!destination.ok) return { failure: destination.reason };
    const resolved = await resolveDestination(destination, { signal: deadline.signal });
    if (!resolved.ok) return { failure: resolved.reason };
    return await send({ destination, addresses: resolved.addresses, headers, body, signal: deadline.signal });
  } finally {
    clearTimeout(timer);
  }
}

async function send(input: {
  destination: Destination;
  addresses: ResolvedAddress[];
  headers: Record<string, string>;
  body: Buffer | string;
  signal: AbortSignal;
}): Promise<Outcome> {
  const { destination, addresses, headers, body, signal } = input;
  const { origin, pathname, search } = destination.url;
  const client = new Client(origin, {
    connect: connectTo(addresses, signal),
    maxHeaderSize: maximumHeaderBytes,
    // The deadline's signal is the only clock.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  try {
    const response = await client.request({
      method: "POST",
      path: pathname + search,
      headers: { "user-agent": userAgent, "content-type": "application/json", ...headers },
      body,
      signal,
      reset: true,
    });
    const status = response.statusCode;
    const delivered = status >= 200 && status < 300;
    if (delivered) {
      // The receiver may finish what it is writing, but its answer has been given.
      await response.body.dump({ limit: maximumBodyBytes, signal }).catch(() => undefined);
      return { status };
    }
    response.body.on("error", () => undefined).destroy();
    return { failure: isRedirect(status) ? `redirect (${status}) not followed` : `HTTP ${status}` };
  } catch (error) {
    return { failure: signal.aborted ? "timeout" : describeFailure(error) };
  } finally {
    await client.destroy();
  }
}

/**
 * Connects to the vetted addresses only, whatever the name means by now. TLS still proves the name. The signal ends
 * connections that are under way; undici alone leaves them.
 */
function connectTo(addresses: ResolvedAddress[], signal: AbortSignal): buildConnector.connector {
  const lookup: LookupFunction = (_name, _options, callback) => callback(null, addresses);
  const connect = buildConnector({
    lookup,
    signal,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressAfterMilliseconds,
    // Said here so that NODE_TLS_REJECT_UNAUTHORIZED cannot undo it.
    rejectUnauthorized: true,
    allowH2: false,
    timeout: 0,
  });
  return (target, callback) =>
    connect(target, (error, socket) => {
      if (error !== null) return callback(error, null);
      if (hasPeerAmong(addresses, socket)) return callback(null, socket);
      socket.destroy();
      callback(new UnexpectedPeerError(), null);
    });
}

class UnexpectedPeerError extends Error {
  readonly code = "UNEXPECTED_PEER";
}

function hasPeerAmong(addresses: ResolvedAddress[], { remoteAddress }: Socket): boolean {
  if (remoteAddress === undefined) return false;
  const peer = ipaddr.parse(remoteAddress).toString();
  return addresses.some(({ address }) => ipaddr.parse(address).toString() === peer);
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** Reasons by error code, most of them Node's and OpenSSL's; the first pattern that matches counts. */
const reasons: [RegExp, string][] = [
  [/^UNEXPECTED_PEER$/, "destination is not public"],
  [/^ECONNREFUSED$/, "connection refused"],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, "connection reset"],
  [/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL)$/, "host unreachable"],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/, "timeout"],
  [/CERT|^UNABLE_TO_|^(HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)$/, "TLS certificate not valid"],
  [/^(EPROTO|ERR_SSL_|ERR_TLS_)/, "TLS handshake failed"],
  [/^UND_ERR_HEADERS_OVERFLOW$/, "response headers too large"],
  [/^(HTTPParserError|HPE_)/, "not a valid HTTP response"],
];

function describeFailure(error: unknown): string {
  const code = findCode(error);
  return reasons.find(([pattern]) => pattern.test(code))?.[1] ?? "connection failed";
}

function findCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  // With several addresses every one's error is in an AggregateError; the first stands for all.
  if (error instanceof AggregateError) return findCode(error.errors[0]);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause === undefined ? error.name : findCode(error.cause);
}
