import { setTimeout } from "node:timers/promises";
import { connect } from "../bin/admin/connect.ts";
import * as channels from "../shared/alerts/channel.ts";
import * as configure from "../shared/alerts/configure.ts";
import { deliveries, raise } from "../shared/alerts/delivery.ts";
import { administrator } from "../shared/organizations/actor.ts";
import * as organizations from "../shared/organizations/organization.ts";
import * as queue from "../shared/queue/queue.ts";
import * as table from "../shared/table/table.ts";
import { type Receiver, startReceiver } from "../test/alerts/receiver.ts";
import { activeBilling } from "../test/organizations/billing.ts";
import { startService } from "../test/service/run.ts";
import type { Arm, Cell, Context } from "./arm.ts";
import { startBullMq } from "./bullmq.ts";
import { quantile } from "./measure.ts";
import { memoryTable, watchMemory } from "./memory.ts";
import { assembly } from "./service.ts";

const groupCount = 5;
/** As many as an organization may have. */
const channelsPerGroup = 20;
/** Two of the channels of each organization: 10 %. */
const isDead = (url: string): boolean => /-(0|1)$/.test(url);

/** How the dead ones behave: they are not dead all the time. */
type Manner = "answer" | "fail" | "hang";

/** At once, to see how many go out in a second. */
const burstEvents = 25;
/** One after the other, at half of what the service can do on this machine, but at most 20 deliveries a second. */
const pacedEvents = 30;
const shortestPaceMilliseconds = 1000;
const paceFor = ({ perSecond }: { perSecond: number }): number =>
  Math.max(shortestPaceMilliseconds, (2 * 1000 * channelsPerGroup) / perSecond);

/** As many workers as a queue has in a local run. */
const concurrency = 8;

/** One organization's event: a delivery for each of its channels; gives their ids. */
export type Lane = { raise: (group: number) => Promise<number[]>; close: () => Promise<void> };

/** `calm` and `healthy`: milliseconds from event to receipt, ascending, with all endpoints answering and of those that do. */
type Measured = { perSecond: number; paceMilliseconds: number; calm: number[]; healthy: number[] };

export const alerts: Arm = {
  name: "alerts",
  about: "Deliveries per second, and how late alerts are while every tenth endpoint never answers",
  run: async ({ progress }) => {
    let dead: Manner = "answer";
    const receiver = await startReceiver({
      respond: ({ url = "" }, response) => {
        const manner = isDead(url) ? dead : "answer";
        if (manner !== "hang") response.writeHead(manner === "fail" ? 500 : 204).end();
      },
    });
    const letDead = (manner: Manner): void => {
      dead = manner;
    };
    const environment = { ...process.env };
    process.env.OUTBOUND_ALLOWED_ORIGINS = receiver.origin;
    const urls = (name: string): string[][] =>
      Array.from({ length: groupCount }, (_, group) =>
        Array.from(
          { length: channelsPerGroup },
          (_, index) => `${receiver.origin}/${name}-${group}-${index}`,
        ),
      );
    try {
      progress("alerts: starting the service");
      const service = await startOwn(receiver, urls("service"));
      const own = await measure(service, { receiver, letDead, name: "this service", progress });
      progress("alerts: starting Redis and BullMQ");
      const plain = await startBullMq(urls("bullmq"), concurrency).catch((error: Error) => error);
      const compared =
        plain instanceof Error
          ? plain
          : await measure(plain, { receiver, letDead, name: "BullMQ", progress, pace: own.paceMilliseconds });
      return [asTable(own, compared), memoryTable({ assembly: await assembly() }, service.peaks())];
    } finally {
      // Also what `connect` has set: the next arm would take this service's engine for its own.
      for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
      Object.assign(process.env, environment);
      await receiver.close();
    }
  },
};

/** `peaks`: megabytes of each function, once it is closed. */
type OwnLane = Lane & { peaks: () => ReadonlyMap<string, number> };

/** The real local service, with these channels: an organization for each group. Events are raised as scans raise theirs. */
const startOwn = async (receiver: Receiver, groups: readonly string[][]): Promise<OwnLane> => {
  const service = await startService(["--memory", "--allow-origin", receiver.origin], {}, await assembly());
  const memory = watchMemory([service.process.pid ?? 0]);
  let peaks: ReadonlyMap<string, number> = new Map();
  try {
    await connect({ port: String(service.port), stack: undefined });
    const made: Awaited<ReturnType<typeof createOrganization>>[] = [];
    for (const urls of groups) made.push(await createOrganization(urls));
    return {
      raise: async (group) => {
        const { org, wanting } = made[group] as (typeof made)[number];
        const { writes, messages } = await raise(org, wanting, [{ type: "scan_error", error: "Measured" }]);
        await table.transact(deliveries.writes(org, writes));
        await queue.sendAll("deliveries", messages);
        return messages.map(({ message }) => message.deliveryId);
      },
      close: async () => {
        peaks = memory.stop().functions;
        await service.stop();
      },
      peaks: () => peaks,
    };
  } catch (error) {
    memory.stop();
    await service.stop();
    throw error;
  }
};

const createOrganization = async (urls: readonly string[]) => {
  const { id: org } = await organizations.create({
    name: "Measured",
    billing: activeBilling,
    scanEvery: "never",
  });
  for (const url of urls) {
    const flags = {
      isEnabled: true,
      notifyOnNewBreach: true,
      notifyOnScanComplete: true,
      notifyOnScanError: true,
    };
    await configure.create(
      org,
      { channel: "webhook", config: { url }, ...flags },
      administrator,
      async () => undefined,
    );
  }
  return { org, wanting: await channels.list(org) };
};

type Surroundings = {
  receiver: Receiver;
  letDead: (manner: Manner) => void;
  name: string;
  progress: Context["progress"];
  /** Default: what suits the lane itself. */
  pace?: number;
};

const measure = async (
  lane: Lane,
  { receiver, letDead, name, progress, pace }: Surroundings,
): Promise<Measured> => {
  const raisedAt = new Map<number, number>();
  const raise = async (count: number, pause: number): Promise<number> => {
    let made = 0;
    for (let event = 0; event < count; event++) {
      const at = Date.now();
      const ids = await lane.raise(event % groupCount);
      for (const id of ids) raisedAt.set(id, at);
      made += ids.length;
      progress(`alerts: ${name}: events`, event + 1, count);
      if (pause > 0) await setTimeout(Math.max(0, at + pause - Date.now()));
    }
    return made;
  };
  /** First attempts: when each arrived, from this request of the receiver on. */
  const arrivals = (from: number): Map<number, { at: number; path: string }> => {
    const first = new Map<number, { at: number; path: string }>();
    for (const { body, path, receivedAt } of receiver.requests.slice(from)) {
      const { id } = JSON.parse(body.toString()) as { id: number };
      if (!first.has(id)) first.set(id, { at: receivedAt.getTime(), path });
    }
    return first;
  };
  const isHealthy = ({ path }: { path: string }): boolean => !isDead(path);
  const until = async (isThere: () => boolean): Promise<void> => {
    for (const deadline = Date.now() + 600_000; !isThere(); await setTimeout(100)) {
      if (Date.now() > deadline) throw new Error(`${name} did not deliver everything in ten minutes`);
    }
  };

  try {
    let from = receiver.requests.length;
    /** Workers of both lanes start, and code becomes warm. */
    const warm = async (): Promise<void> => {
      letDead("fail");
      from = receiver.requests.length;
      const made = await raise(groupCount, 0);
      // Two retries of each that fails.
      await until(() => receiver.requests.length - from >= made * (1 + (2 * 2) / channelsPerGroup));
      letDead("answer");
    };

    await warm();
    from = receiver.requests.length;
    const began = Date.now();
    const burst = await raise(burstEvents, 0);
    await until(() => receiver.requests.length - from >= burst);
    const last = Math.max(...[...arrivals(from).values()].map(({ at }) => at));
    const perSecond = burst / ((last - began) / 1000);

    const paceMilliseconds = pace ?? paceFor({ perSecond });
    const paced = async (): Promise<number[]> => {
      from = receiver.requests.length;
      const expected = (await raise(pacedEvents, paceMilliseconds)) * (1 - 2 / channelsPerGroup);
      let healthy: [number, { at: number; path: string }][] = [];
      await until(() => {
        healthy = [...arrivals(from)].filter(([, arrival]) => isHealthy(arrival));
        return healthy.length >= expected;
      });
      return healthy.map(([id, { at }]) => at - (raisedAt.get(id) ?? 0)).sort((a, b) => a - b);
    };
    const calm = await paced();
    await warm();
    letDead("hang");
    return { perSecond, paceMilliseconds, calm, healthy: await paced() };
  } finally {
    await lane.close();
  }
};

const asTable = (own: Measured, compared: Measured | Error) => {
  const row = (label: string, of: (measured: Measured) => number): Cell[] => [
    label,
    Math.round(of(own)),
    ...(compared instanceof Error ? [] : [Math.round(of(compared))]),
  ];
  return {
    title: "Delivery of alerts",
    columns: ["", "this service", ...(compared instanceof Error ? [] : ["BullMQ on Redis"])],
    rows: [
      row(
        `First attempts a second, ${burstEvents * channelsPerGroup} at once, all endpoints answer`,
        (m) => m.perSecond,
      ),
      row("Event to receipt, all endpoints answer, p50, ms", ({ calm }) => quantile(calm, 0.5)),
      row("… p95, ms", ({ calm }) => quantile(calm, 0.95)),
      row("Event to receipt, 10 % of endpoints never answer, healthy p50, ms", ({ healthy }) =>
        quantile(healthy, 0.5),
      ),
      row("… healthy p95, ms", ({ healthy }) => quantile(healthy, 0.95)),
      row("… healthy maximum, ms", ({ healthy }) => healthy.at(-1) ?? 0),
    ],
    notes: [
      `${groupCount} organizations with ${channelsPerGroup} webhook channels each; ${concurrency} workers; 10 s timeout, attempts 1 s and 2 s later. Latencies at ${Math.round((channelsPerGroup * 1000) / own.paceMilliseconds)} deliveries a second.`,
      "This service: the whole local run, its functions, table engine and queue on this machine, and every attempt written to the table twice. BullMQ: its jobs and nothing else.",
      ...(compared instanceof Error ? [`BullMQ ${compared.message}.`] : []),
    ],
  };
};
