/**
 * Runs the workers of scans in the process of a test, with the table's engine, queues and an HIBP server.
 * There is no Lambda: the test itself decides which message is handled when.
 */
import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { invocation, logger, startQueues, takeMessages } from "../../bench/in-process.ts";
import { sweep } from "../../functions/sweep/handler.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import { work } from "../../shared/alerting/outbox/work.ts";
import type { Sweep } from "../../shared/aws/queue/job.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { withTimeOf } from "../../shared/aws/table/patience.ts";
import { silenceSeconds } from "../../shared/contract/job-timing.ts";
import type { Message, QueueName } from "../../shared/contract/messages.ts";
import { proofDaySeconds, proofLossSeconds } from "../../shared/contract/proof-timing.ts";
import * as findings from "../../shared/findings/finding.ts";
import { blockSize, reserve } from "../../shared/lists/blocks.ts";
import * as domains from "../../shared/monitoring/domains/domain.ts";
import { importAll } from "../../shared/monitoring/imports/commit.ts";
import { check } from "../../shared/scanning/check.ts";
import type { Check } from "../../shared/scanning/check-writes.ts";
import type { EmailChange } from "../../shared/scanning/compare-email.ts";
import { changesOf } from "../../shared/scanning/email-chunks.ts";
import { end } from "../../shared/scanning/end.ts";
import { lookUp } from "../../shared/scanning/look-up.ts";
import { plan } from "../../shared/scanning/plan.ts";
import { scans } from "../../shared/scanning/record.ts";
import { start } from "../../shared/scanning/start.ts";
import * as accounts from "../access/organizations/accounts.ts";
import { type Disturbance, startEngine } from "../aws/table/engine.ts";
import { reply, startUpstream, type UpstreamServer } from "../hibp/upstream-server.ts";

export { invocation, logger, takeMessages };

/**
 * What the HIBP server answers. A test may change it at any time. After each test all but `breached` and
 * `accounts` are reset.
 */
type Answers = {
  /** Domain → index of an address → names of the breaches that it is in. Other domains are not covered. */
  breached: Record<string, Record<number, string[]>>;
  /** Address → names of the breaches that it is in, when the address is looked up. */
  accounts: Record<string, string[]>;
  /** The breaches that it lists, as it lists them. Others have nothing but their names. */
  catalog: readonly object[];
  /** What it says of the plan, as it says it. */
  plan: Record<string, unknown>;
  /** The status with which a request fails. */
  failureOf: (path: string) => number | undefined;
  /** The delay of every answer. */
  latencyMilliseconds: number;
};

export type Workers = Answers & { upstream: UpstreamServer };

/** Starts engine, queues and HIBP server before the tests of a file and stops them after. */
export const useWorkers = (answers: Partial<Answers> = {}, disturbance?: Disturbance): Workers => {
  const ofEachTest = { catalog: [], plan: {}, failureOf: () => undefined, latencyMilliseconds: 0 };
  const initial = { breached: {}, accounts: {}, ...ofEachTest, ...answers };
  const workers = { ...initial } as Workers;
  const answer: UpstreamServer["answer"] = (path, _request, response) => {
    const failure = workers.failureOf(path);
    const found = answerTo(path, workers);
    const status = failure ?? (found === undefined ? 404 : 200);
    const body = failure === undefined ? found : {};
    setTimeout(() => reply(response, status, body), workers.latencyMilliseconds);
  };
  const stops: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    const engine = await startEngine(disturbance);
    stops.push(engine.stop);
    workers.upstream = await startUpstream();
    stops.push(workers.upstream.stop);
    const queues = await startQueues();
    stops.push(queues.close);
    workers.upstream.answer = answer;
    // Taking messages sets the last one.
    for (const [name, value] of Object.entries({ ...queues.variables, SOURCE_QUEUE_URL: "" }))
      vi.stubEnv(name, value);
  });
  afterEach(() => {
    const { breached, accounts } = workers;
    Object.assign(workers, initial, { breached, accounts });
    workers.upstream.answer = answer;
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    for (const stop of stops.reverse()) await stop();
  });
  return workers;
};

const answerTo = (path: string, { breached, accounts, catalog, plan }: Answers): unknown => {
  if (path === "subscription/status") return { Rpm: 6000, ...plan };
  if (path === "subscribeddomains") return Object.keys(breached).map((DomainName) => ({ DomainName }));
  if (path === "breaches") return catalog;
  const [, address] = /^breachedaccount\/([^?]+)/.exec(path) ?? [];
  if (address !== undefined) return accounts[decodeURIComponent(address)]?.map((Name) => ({ Name }));
  const ofDomain = breached[path.replace("breacheddomain/", "")];
  return (
    ofDomain && Object.fromEntries(Object.entries(ofDomain).map(([index, names]) => [`user${index}`, names]))
  );
};

/** Takes all messages off a queue and returns the first. */
export const takeMessage = async <Q extends QueueName>(name: Q): Promise<Message<Q>> => {
  const [message] = await takeMessages(name);
  if (message === undefined) throw new Error(`The queue ${name} has no message`);
  return message;
};

/** Plans the scans of all messages that are in the queue. */
export const runPlans = async (): Promise<void> => {
  for (const message of await takeMessages("scan-plans")) await plan(message, invocation());
};

/** Checks the chunks of all messages that are in the queue, and makes the deliveries of what they find. */
export const runChecks = async (): Promise<void> => {
  for (const message of await takeMessages("scan-checks")) await check(message, invocation());
  await runOutbox();
};

/**
 * Makes the look-ups of all messages in the queue, each by a worker with this many seconds, and the
 * deliveries.
 */
export const runLookUps = async (seconds?: number): Promise<void> => {
  for (const message of await takeMessages("scan-lookups")) await lookUp(message, invocation(seconds));
  await runOutbox();
};

/** As deployed. */
export const outboxSettings = { firstMessageSeconds: 120 };

/** The same for one organization, whose message may be lost. */
export const runOutboxOf = (org: number): Promise<void> =>
  work({ organizationId: org }, invocation(), outboxSettings);

/** Makes deliveries of what happened, for all messages that are in the queue. */
export const runOutbox = async (): Promise<void> => {
  for (
    let messages = await takeMessages("outbox");
    messages.length > 0;
    messages = await takeMessages("outbox")
  )
    for (const message of messages) await work(message, invocation(), outboxSettings);
};

/** A sweep over jobs at this time. Default: long after a worker's last sign of life. */
export const sweepOf = (milliseconds = Date.now() + 600_000): Sweep => ({
  now: new Date(milliseconds),
  silenceSeconds,
  logger,
});

/** Sweeps with the intervals of a deployed stack. */
export const sweepNow = (): Promise<void> =>
  sweep(invocation(), {
    silenceSeconds,
    deletionSeconds: 900,
    daySeconds: proofDaySeconds,
    lossSeconds: proofLossSeconds,
  });

/** How many addresses were looked up at HIBP so far. */
export const lookUpCount = ({ upstream }: Workers): number =>
  upstream.requests.filter(({ path }) => path.startsWith("breachedaccount/")).length;

/** How many domains were searched at HIBP so far. */
export const domainSearchCount = ({ upstream }: Workers): number =>
  upstream.requests.filter(({ path }) => path.startsWith("breacheddomain/")).length;

/**
 * Creates an organization with verified domains, whose addresses are `user0`, `user1` …; returns its id.
 * `perBlock`: how many addresses share a block, so that few are several chunks of a scan.
 */
export const createOrganization = async (
  addressCounts: Readonly<Record<string, number>>,
  perBlock = Number.POSITIVE_INFINITY,
): Promise<number> => {
  const org = await accounts.createOrganization("Test");
  await addDomains(org, addressCounts, perBlock);
  return org;
};

/** Gives an organization verified domains with addresses, as `createOrganization` does. */
export const addDomains = async (
  org: number,
  addressCounts: Readonly<Record<string, number>>,
  perBlock = Number.POSITIVE_INFINITY,
): Promise<void> => {
  const rows: { email: string; domainId: number }[] = [];
  for (const [name, count] of Object.entries(addressCounts)) {
    const domain = await domains.create(org, { name, verified: true });
    if (domain === "exists") throw new Error(`The domain ${name} exists`);
    const addresses = Array.from({ length: count }, (_, index) => `user${index}@${name}`);
    rows.push(...addresses.map((email) => ({ email, domainId: domain.id })));
  }
  for (const some of chunk(rows, perBlock)) {
    await importAll(org, some, administrator);
    if (some.length === perBlock) await reserve(org, "EMAIL", blockSize);
  }
};

/** Starts a scan, plans it and returns its id. */
export const startAndPlan = async (org: number): Promise<number> => {
  const scanId = await start(org, "manual", administrator);
  await runPlans();
  return scanId;
};

/** A scan's row and its status. */
export const readScan = async (org: number, scanId: number) => {
  const scan = await scans.get(org, scanId);
  return { ...scan, status: scan && scans.groupOf(scan).status };
};

/** Ends a scan whatever is left of it. */
export const endEarly = async (org: number, scanId: number): Promise<void> => {
  await withTimeOf(300_000, () => end(org, scanId, { reason: "for a test", logger }));
  await runOutbox();
};

/** How many findings are listed as found by a scan. */
export const foundBy = async (org: number, scanId: number): Promise<number> =>
  (await findings.list(org, { limit: 1, offset: 0, scanId })).total;

/** What a worker that has the message of a chunk records its changes with. */
export const checkOf = async ({ organizationId: org, ...chunk }: Message<"scan-checks">): Promise<Check> => ({
  ...chunk,
  org,
  isFirst: (await readScan(org, chunk.scanId)).isFirst === true,
  checkedAt: ({ planAt = "" }) => planAt,
  domains: new Map((await domains.list(org)).map((domain) => [domain.id, domain])),
  logger,
});

/** The changes of the chunk that a message is about. */
export const changesIn = ({
  organizationId: org,
  ...chunk
}: Message<"scan-checks">): Promise<EmailChange[]> => changesOf({ org, ...chunk });
