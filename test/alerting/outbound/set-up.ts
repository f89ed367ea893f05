import { getServers, setServers } from "node:dns";
import { createServer, type Socket } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterEach } from "vitest";
import { startReceiver } from "../../../local/harness/receiver.ts";
import { listenOn } from "../../../local/loopback.ts";
import type { AttemptResult } from "../../../shared/alerting/kinds/kind.ts";
import { post } from "../../../shared/alerting/kinds/outbound.ts";
import { resetEnvironment } from "../../environment.ts";
import { type Answer, type RecordType, startNameServer } from "../name-server.ts";

const originalServers = getServers();
const originalEnvironment = { ...process.env };
const originalCertificates = getCACertificates("default");

/** What to call after the test, such as `close` of a server. */
export const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  resetEnvironment(originalEnvironment);
  setServers(originalServers);
  setDefaultCACertificates(originalCertificates);
  await Promise.all(closing.splice(0).map((close) => close()));
});

/** The url of the tested module as a JavaScript literal, for programs that run in a process of their own. */
export const outboundModule = JSON.stringify(
  new URL("../../../shared/alerting/kinds/outbound.ts", import.meta.url),
);

/** Exempts these origins, and no others, from the rules for destinations. */
export const allow = (...origins: string[]): void => {
  process.env.OUTBOUND_ALLOWED_ORIGINS = origins.join(",");
};

/** Trusts this certificate besides the default ones. */
export const trust = (certificate: string): void => {
  setDefaultCACertificates([...originalCertificates, certificate]);
};

/** Starts a receiver whose origin is allowed. */
export async function receive(settings: Parameters<typeof startReceiver>[0] = {}) {
  const receiver = await startReceiver(settings);
  closing.push(receiver.close);
  allow(receiver.origin);
  return receiver;
}

/** Starts a server that may break HTTP: `talk` gets the socket when the first bytes have arrived. */
export async function listen(talk: (socket: Socket) => void) {
  const server = await listenOn(createServer((socket) => socket.once("data", () => talk(socket))));
  closing.push(server.close);
  const origin = `http://127.0.0.1:${server.port}`;
  allow(origin);
  return { ...server, origin };
}

/** Makes this process resolve names with `answer`. */
export async function resolveNames(answer: (query: { name: string; type: RecordType }) => Answer) {
  const server = await startNameServer(answer);
  closing.push(server.close);
  setServers([server.address]);
  return server;
}

/**
 * Posts `{}` to a url. `response`: what the receiver answered, if it did. What waits for the default deadline
 * fails its test.
 */
export async function send(
  url: string,
  deadlineSeconds = 600,
): Promise<{ result: AttemptResult; response: AttemptResult["response"] }> {
  const { response, ...result } = await post({
    url,
    headers: {},
    body: "{}",
    deadlineSeconds,
    throttledStatuses: [429],
  });
  return { result, response };
}
