import { Logger } from "@aws-lambda-powertools/logger";
import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { buildApp } from "fauxqs";
import { vi } from "vitest";
import { importAll } from "../../shared/imports/commit.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import * as domains from "../../shared/organizations/domain.ts";
import * as organizations from "../../shared/organizations/organization.ts";
import { type Message, messages, type QueueName } from "../../shared/queue/messages.ts";
import * as queue from "../../shared/queue/queue.ts";
import { plan } from "../../shared/scans/plan.ts";
import { scans } from "../../shared/scans/record.ts";
import { start } from "../../shared/scans/scan.ts";
import { reply, startUpstream, type UpstreamServer } from "../catalog/upstream-server.ts";
import { activeBilling } from "../organizations/billing.ts";
import { startEngine } from "../table/engine.ts";
import { intercept, type Request } from "../table/intercept.ts";

export const logger = new Logger({ logLevel: "SILENT" });

/** Of a worker that has this long left. */
export const invocation = (seconds = 300) => {
  const endsAt = Date.now() + seconds * 1000;
  return { logger, remainingSeconds: () => (endsAt - Date.now()) / 1000 };
};

export type Workers = {
  /** Answers HIBP's requests as `answers` and `fails` say, with so many requests a minute. */
  upstream: UpstreamServer;
  /** Domain to index of an address to the breaches that it is in; domains that are not here are not covered. */
  breached: Record<string, Record<number, string[]>>;
  /** Address to the breaches that it is in, when it is looked up by itself. */
  accounts: Record<string, string[]>;
  /** Status of a request instead of its answer. */
  fails: (path: string) => number | undefined;
  /** Of every answer. */
  latencyMilliseconds: number;
  stop: () => Promise<void>;
};

/** The table's engine, queues and an upstream, for workers that a test calls itself with the messages that it takes. */
export const startWorkers = async (): Promise<Workers> => {
  const engine = await startEngine();
  const upstream = await startUpstream();
  const queues = buildApp({ logger: false });
  const workers: Workers = {
    upstream,
    breached: {},
    accounts: {},
    fails: () => undefined,
    latencyMilliseconds: 0,
    stop: async () => {
      vi.unstubAllEnvs();
      await queues.close();
      await upstream.stop();
      await engine.stop();
    },
  };
  const answerTo = (path: string): unknown => {
    if (path === "subscription/status") return { Rpm: 6000 };
    if (path === "subscribeddomains")
      return Object.keys(workers.breached).map((DomainName) => ({ DomainName }));
    // No name is known beyond those that a test mentions; a 404 would be asked for again and again.
    if (path === "breaches") return [];
    const [, address] = /^breachedaccount\/([^?]+)/.exec(path) ?? [];
    if (address !== undefined) {
      return workers.accounts[decodeURIComponent(address)]?.map((Name) => ({ Name }));
    }
    const accounts = workers.breached[path.replace("breacheddomain/", "")];
    return (
      accounts &&
      Object.fromEntries(Object.entries(accounts).map(([index, names]) => [`user${index}`, names]))
    );
  };
  upstream.answer = (path, _request, response) => {
    const status = workers.fails(path);
    const answer = answerTo(path);
    setTimeout(
      () => reply(response, status ?? (answer === undefined ? 404 : 200), status === undefined ? answer : {}),
      workers.latencyMilliseconds,
    );
  };
  const url = await queues.listen({ host: "127.0.0.1", port: 0 });
  vi.stubEnv("AWS_ENDPOINT_URL_SQS", url);
  for (const name of Object.keys(messages)) {
    await new SQSClient().send(new CreateQueueCommand({ QueueName: name }));
    vi.stubEnv(`${name.toUpperCase().replaceAll("-", "_")}_QUEUE_URL`, `${url}/000000000000/${name}`);
  }
  return workers;
};

/** Takes all messages of a queue. */
export const take = async <Q extends QueueName>(name: Q): Promise<Message<Q>[]> => {
  vi.stubEnv("SOURCE_QUEUE_URL", process.env[`${name.toUpperCase().replaceAll("-", "_")}_QUEUE_URL`]);
  const taken: Message<Q>[] = [];
  for (;;) {
    const received = await queue.receive(10, 0);
    if (received.length === 0) return taken;
    for (const { body, receiptHandle } of received) {
      taken.push(messages[name].parse(JSON.parse(body)) as Message<Q>);
      await queue.remove(receiptHandle);
    }
  }
};

/** An organization with verified domains of so many addresses, `user0`, `user1` …; its id. */
export const createScanned = async (addresses: Readonly<Record<string, number>>): Promise<number> => {
  const { id: org } = await organizations.create({
    name: "Test",
    billing: activeBilling,
    scanEvery: "never",
  });
  for (const [name, count] of Object.entries(addresses)) {
    const domain = await domains.create(org, { name, verified: true });
    if (domain === "exists") throw new Error(`${name} is there`);
    const rows = Array.from({ length: count }, (_, index) => ({
      email: `user${index}@${name}`,
      domainId: domain.id,
      ownerName: null,
    }));
    await importAll(org, rows, administrator);
  }
  return org;
};

/** Starts a scan and plans it; its id. */
export const startPlanned = async (org: number): Promise<number> => {
  const scanId = await start(org, "manual", administrator);
  for (const message of await take("scan-plans")) await plan(message, invocation());
  return scanId;
};

/** A scan's row and its status. */
export const scanned = async (org: number, scanId: number) => {
  const scan = await scans.get(org, scanId);
  return { ...scan, status: scan && scans.facetOf(scan).status };
};

/** Does something once, just before or after the table gets the next request that contains `part`. What it throws, the caller gets. */
export const meanwhile = (
  part: string,
  when: "before" | "after",
  act: () => Promise<void>,
): { readonly happened: boolean } => {
  let happened = false;
  // Around the SDK's own tries: what is thrown here is not tried again.
  intercept<Request>("build", (next) => async (sent) => {
    const isIt = !happened && new TextDecoder().decode(sent.request.body).includes(part);
    if (isIt) happened = true;
    if (isIt && when === "before") await act();
    const reply = await next(sent);
    if (isIt && when === "after") await act();
    return reply;
  });
  return {
    get happened() {
      return happened;
    },
  };
};
