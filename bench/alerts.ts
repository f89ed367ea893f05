import { setTimeout } from "node:timers/promises";
import { connect } from "../bin/admin/connect.ts";
import { type HibpServer, startHibpServer } from "../local/harness/hibp-server.ts";
import { type Receiver, startReceiver } from "../local/harness/receiver.ts";
import { startService } from "../local/harness/service.ts";
import { type Channel, list } from "../shared/alerting/channels/channel.ts";
import { deliveries, raise } from "../shared/alerting/deliveries/delivery.ts";
import * as queue from "../shared/aws/queue/queue.ts";
import * as table from "../shared/aws/table/table.ts";
import type { Cell, Context, Run } from "./arm.ts";
import { startBullMq } from "./bullmq.ts";
import { createChannels, createOrganization, webhook } from "./channels.ts";
import { quantile, until, verdict } from "./measure.ts";
import { covered, measureScanAlerts, rpm } from "./scan-alerts.ts";
import { assembly } from "./service.ts";

const organizationCount = 5;
/** The most that an organization may have. */
const channelsPerOrganization = 20;
/** Whether a url is one of the two faulty endpoints of its organization, 10 % of all. */
const isFaulty = (url: string): boolean => /-(0|1)$/.test(url);

/** What the faulty endpoints do now: answer with success, answer with an error, or never answer. */
type Faulty = { now: "answer" | "fail" | "hang" };

/** Events raised as fast as possible, to warm up and to measure throughput. */
const burstEvents = 100;
/** Events raised one after the other, to measure latency. */
const pacedEvents = 30;
/** Milliseconds between two of these: with their channels, 20 deliveries a second. */
const paceMilliseconds = 1_000;

/** Jobs that BullMQ works on at the same time. */
const concurrency = 40;

/**
 * `raise`: one event of an organization, by its index; returns the ids of the deliveries, one for each of its
 * channels.
 */
export type DeliverySystem = {
  raise: (organization: number) => Promise<number[]>;
  close: () => Promise<void>;
};

/**
 * `perSecond`: first attempts. The latencies are milliseconds from event to receipt: `calm` with
 * all endpoints answering, `healthy` of the endpoints that answer while the faulty ones hang.
 */
type Measured = { perSecond: number; calm: number[]; healthy: number[] };

export const run: Run = async ({ progress }) => {
  const faulty: Faulty = { now: "answer" };
  const receiver = await startReceiver({
    respond: ({ url = "" }, response) => {
      // The service sends its mails here too.
      if (url.startsWith("/v2/email/")) return void response.writeHead(200).end("{}");
      const now = isFaulty(url) ? faulty.now : "answer";
      if (now !== "hang") response.writeHead(now === "fail" ? 500 : 204).end();
    },
  });
  process.env.OUTBOUND_ALLOWED_ORIGINS = receiver.origin;
  const urls = (name: string): string[][] =>
    Array.from({ length: organizationCount }, (_, organization) =>
      Array.from(
        { length: channelsPerOrganization },
        (_, index) => `${receiver.origin}/${name}-${organization}-${index}`,
      ),
    );
  const hibp = Object.assign(await startHibpServer(), { covered, rpm });
  try {
    progress("alerts: starting the service");
    const service = await startOwn({ receiver, hibp }, urls("service"));
    const ofScans = await measureScanAlerts({ receiver, hibp, apiUrl: service.apiUrl }, progress).catch(
      async (error) => {
        await service.close();
        throw error;
      },
    );
    const surroundings = { receiver, faulty, progress };
    const own = await measure(service, "this service", surroundings);
    progress("alerts: starting Redis and BullMQ");
    const bullMq = await startBullMq(urls("bullmq"), concurrency).catch((error: Error) => error);
    const compared = bullMq instanceof Error ? bullMq : await measure(bullMq, "BullMQ", surroundings);
    return [ofScans, asTable(own, compared)];
  } finally {
    await hibp.close();
    await receiver.close();
  }
};

/**
 * The real local service. `urls`: the webhook urls of each organization. Events are raised by the code that
 * scans use.
 */
const startOwn = async (
  { receiver, hibp }: { receiver: Receiver; hibp: HibpServer },
  urls: readonly string[][],
): Promise<DeliverySystem & { apiUrl: string }> => {
  const options = ["--memory", "--hibp-url", hibp.url, "--allow-origin", receiver.origin];
  const service = await startService(options, { AWS_ENDPOINT_URL_SESV2: receiver.origin }, await assembly());
  try {
    await connect({ port: String(service.port), stack: undefined });
    const created: { org: number; recipients: Channel[] }[] = [];
    for (const own of urls) {
      const { id: org } = await createOrganization();
      await createChannels(org, own.map(webhook));
      created.push({ org, recipients: await list(org) });
    }
    return {
      apiUrl: service.apiUrl,
      raise: async (organization) => {
        const { org, recipients } = created[organization] as (typeof created)[number];
        const event = { type: "scan_error", error: "Measured" } as const;
        const { writes, messages } = await raise(org, recipients, [event]);
        await table.transact(deliveries.writes(org, writes));
        await queue.sendAll("deliveries", messages);
        return messages.map(({ message }) => message.deliveryId);
      },
      close: () => service.stop(),
    };
  } catch (error) {
    await service.stop();
    throw error;
  }
};

const measure = async (
  system: DeliverySystem,
  name: string,
  { receiver, faulty, progress }: { receiver: Receiver; faulty: Faulty; progress: Context["progress"] },
): Promise<Measured> => {
  const raisedAt = new Map<number, number>();
  /** Raises events of the organizations in turn; returns how many deliveries they have. */
  const raise = async (count: number, pace = 0): Promise<number> => {
    let deliveries = 0;
    for (let event = 0; event < count; event++) {
      const at = Date.now();
      const ids = await system.raise(event % organizationCount);
      for (const id of ids) raisedAt.set(id, at);
      deliveries += ids.length;
      progress(`alerts: ${name}: events`, event + 1, count);
      if (pace > 0) await setTimeout(Math.max(0, at + pace - Date.now()));
    }
    return deliveries;
  };
  /** When the first attempt of each delivery arrived, from the receiver's request number `from` on. */
  const arrivals = (from: number): Map<number, { at: number; path: string }> => {
    const first = new Map<number, { at: number; path: string }>();
    for (const { body, path, receivedAt } of receiver.requests.slice(from)) {
      const { id } = JSON.parse(body.toString()) as { id: number };
      if (!first.has(id)) first.set(id, { at: receivedAt.getTime(), path });
    }
    return first;
  };
  const delivered = (isComplete: () => boolean): Promise<void> =>
    until(isComplete, { minutes: 10, what: `${name} to deliver everything` });

  try {
    let from = receiver.requests.length;
    /**
     * Starts the workers of first attempts and of retries, so that neither their start nor V8's compiling is
     * measured.
     */
    const warm = async (): Promise<void> => {
      faulty.now = "fail";
      from = receiver.requests.length;
      const deliveries = await raise(burstEvents);
      // Two of the deliveries of an event fail, and each is tried twice more.
      const expected = deliveries * (1 + (2 * 2) / channelsPerOrganization);
      await delivered(() => receiver.requests.length - from >= expected);
      faulty.now = "answer";
    };

    await warm();
    from = receiver.requests.length;
    const began = Date.now();
    const burst = await raise(burstEvents);
    await delivered(() => receiver.requests.length - from >= burst);
    const last = Math.max(...[...arrivals(from).values()].map(({ at }) => at));
    const perSecond = burst / ((last - began) / 1000);

    const paced = async (): Promise<number[]> => {
      from = receiver.requests.length;
      const expected = (await raise(pacedEvents, paceMilliseconds)) * (1 - 2 / channelsPerOrganization);
      let healthy: [number, { at: number; path: string }][] = [];
      await delivered(() => {
        healthy = [...arrivals(from)].filter(([, { path }]) => !isFaulty(path));
        return healthy.length >= expected;
      });
      return healthy.map(([id, { at }]) => at - (raisedAt.get(id) ?? 0));
    };
    const calm = await paced();
    await warm();
    faulty.now = "hang";
    return { perSecond, calm, healthy: await paced() };
  } finally {
    await system.close();
  }
};

const asTable = (own: Measured, compared: Measured | Error) => {
  const row = (label: string, of: (measured: Measured) => number, target = (_: number) => ""): Cell[] => [
    label,
    Math.round(of(own)),
    ...(compared instanceof Error ? [] : [Math.round(of(compared))]),
    target(of(own)),
  ];
  const atMost = (milliseconds: number) => (value: number) => verdict("ms", value, milliseconds);
  return {
    title: "Delivery of alerts",
    columns: ["", "this service", ...(compared instanceof Error ? [] : ["BullMQ on Redis"]), "Targets"],
    rows: [
      row(
        `First attempts a second, ${burstEvents * channelsPerOrganization} at once, all endpoints answer`,
        (m) => m.perSecond,
        (value) => `attempts ≥ 300 ${value >= 300 ? "met" : "MISSED"}`,
      ),
      row("Event to receipt, all endpoints answer, p50, ms", ({ calm }) => quantile(calm, 0.5)),
      row("Event to receipt, all endpoints answer, p95, ms", ({ calm }) => quantile(calm, 0.95), atMost(150)),
      row("Event to receipt by the others while 10 % of endpoints never answer, p50, ms", ({ healthy }) =>
        quantile(healthy, 0.5),
      ),
      row(
        "Event to receipt by the others while 10 % of endpoints never answer, p95, ms",
        ({ healthy }) => quantile(healthy, 0.95),
        atMost(200),
      ),
    ],
    notes: [
      `${organizationCount} organizations with ${channelsPerOrganization} webhook channels each; ` +
        "10 s timeout; up to two more attempts, after 1 s and 2 s. Latencies are measured at " +
        `${channelsPerOrganization} deliveries a second.`,
      "This service is the whole local run with functions, table engine and queues on this " +
        "machine; it writes every attempt to the table twice. BullMQ is a worker with " +
        `${concurrency} jobs at the same time, Redis and the jobs alone.`,
      ...(compared instanceof Error ? [`Not compared with BullMQ: ${compared.message}.`] : []),
    ],
  };
};
