import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import net, { type LookupFunction, type Socket } from "node:net";
import { addAbortSignal } from "node:stream";
import tls from "node:tls";
import ipaddr from "ipaddr.js";
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

/**
 * `failure` is a short reason for people. It never contains the url, a header or a part of the answer. `comeBackSeconds`:
 * there was nothing wrong but that too much was sent at once, and after so long (0: not said) it is taken.
 */
export type Outcome = { status: number } | { failure: string; comeBackSeconds?: number };

/** The longest time to come back after that a receiver can ask for. */
const maximumComeBackSeconds = 3_600;

/**
 * Posts JSON to a public HTTPS url, guarded afresh (destination.ts). One deadline holds for DNS, connecting, TLS, headers
 * and body. Redirects and the environment's proxies are never followed.
 *
 * `status` means delivered: 2xx, whatever becomes of the body, of which at most 16 KiB are read. Everything else is a
 * `failure`; nothing is thrown. Afterwards no socket and no timer is left.
 */
export const post = async (input: {
  url: string;
  headers: Record<string, string>;
  body: Buffer | string;
  deadlineSeconds?: number;
}): Promise<Outcome> => {
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
};

const send = async (input: {
  destination: Destination;
  addresses: ResolvedAddress[];
  headers: Record<string, string>;
  body: Buffer | string;
  signal: AbortSignal;
}): Promise<Outcome> => {
  const { destination, addresses, headers, body, signal } = input;
  let socket: Socket | undefined;
  try {
    socket = await connectTo(destination, addresses, signal);
    const response = await request(socket, destination.url, headers, body);
    const status = response.statusCode ?? 0;
    if (status === 429) return { failure: "HTTP 429", comeBackSeconds: comeBackAfter(response) };
    if (status < 200 || status >= 300) {
      return { failure: isRedirect(status) ? `redirect (${status}) not followed` : `HTTP ${status}` };
    }
    // The receiver may finish what it is writing, but its answer has been given.
    await readSome(response).catch(() => undefined);
    return { status };
  } catch (error) {
    return { failure: signal.aborted ? "timeout" : describeFailure(error) };
  } finally {
    socket?.destroy();
  }
};

/** Of a Retry-After in seconds (RFC 9110, 10.2.3); a date is not read. */
const comeBackAfter = ({ headers }: IncomingMessage): number =>
  /^\d{1,9}$/.test(headers["retry-after"] ?? "")
    ? Math.min(maximumComeBackSeconds, Number(headers["retry-after"]))
    : 0;

/**
 * Connects to the vetted addresses only, whatever the name means by now. TLS still proves the name. The signal ends the
 * connection at any time, until it is destroyed.
 */
const connectTo = async (
  { url, host }: Destination,
  addresses: ResolvedAddress[],
  signal: AbortSignal,
): Promise<Socket> => {
  const isSecure = url.protocol === "https:";
  const lookup: LookupFunction = (_name, _options, callback) => callback(null, addresses);
  const options = {
    // An address is not looked up: it is itself what was vetted.
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
        // Said here so that NODE_TLS_REJECT_UNAUTHORIZED cannot undo it.
        rejectUnauthorized: true,
      })
    : net.connect(options);
  // Whoever waits for the socket is told of its errors; one that nobody waits for would end the process.
  socket.on("error", () => undefined);
  addAbortSignal(signal, socket);
  await once(socket, isSecure ? "secureConnect" : "connect");
  if (!hasPeerAmong(addresses, socket)) {
    socket.destroy();
    throw new ConnectionError("UNEXPECTED_PEER");
  }
  return socket;
};

/** Sends a POST on the connection, whose end is also the end of waiting, and resolves with the head of the answer. */
const request = (
  socket: Socket,
  { host, pathname, search }: URL,
  headers: Record<string, string>,
  body: Buffer | string,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    httpRequest({
      // Nothing of the environment has a say in how to connect: there is no agent.
      createConnection: () => socket,
      method: "POST",
      path: pathname + search,
      headers: { host, "user-agent": userAgent, "content-type": "application/json", ...headers },
      maxHeaderSize: maximumHeaderBytes,
    })
      .on("response", resolve)
      .on("error", reject)
      // Neither was heard when the receiver switched protocols.
      .on("close", () => reject(new ConnectionError("ECONNRESET")))
      .end(body);
  });

const readSome = async (response: IncomingMessage): Promise<void> => {
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    if (bytes > maximumBodyBytes) return;
  }
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

/** Reasons by error code, most of them Node's and OpenSSL's; the first pattern that matches counts. */
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
  // With several addresses every one's error is in an AggregateError; the first stands for all.
  if (error instanceof AggregateError) return findCode(error.errors[0]);
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause === undefined ? error.name : findCode(error.cause);
};
