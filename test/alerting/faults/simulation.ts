/**
 * Runs the real workers of alerts against the real table engine and queue server while things break, in
 * virtual time.
 *
 * Only `Date` is faked: product, queue and SDK share one clock, which jumps from one planned action to the
 * next. A worker stops in front of every write, every send and every response of a receiver, and goes on
 * later by that clock; in between, other workers run. At each stop the request may fail or be applied twice,
 * or the worker may be killed.
 *
 * Each fault is drawn from the seed and the name of the step, so that equal seeds give equal runs.
 */
import { createHash } from "node:crypto";
import { vi } from "vitest";
import { Chance } from "./chance.ts";
import { Clock, hour, minute, second, startedAt, tick } from "./clock.ts";
import { Faults } from "./faults.ts";
import { Invocations } from "./invocations.ts";
import { Queues } from "./queues.ts";
import { Receivers } from "./receivers.ts";
import { Requests } from "./requests.ts";
import { lastPlannedAt, plan, prepare } from "./scenario.ts";
import { Witnesses } from "./witnesses.ts";

export type Settings = {
  /** The url of the table engine. */
  url: string;
  seed: string;
  /** Events that are raised, each for some of the channels; about twice as many deliveries. */
  events: number;
  /** The probability that a step breaks. */
  faultRate: number;
};

export type Result = {
  deliveries: number;
  posts: number;
  /** Broken steps, by kind of fault. */
  faults: Record<string, number>;
  /** Channel name → status → deliveries at the end. */
  labels: Record<string, Record<string, number>>;
  /** What must not have happened; empty. */
  violations: string[];
  virtualHours: number;
  /** Equal for equal runs. */
  digest: string;
};

export const simulate = async ({ url, seed, events, faultRate }: Settings): Promise<Result> => {
  const clock = new Clock();
  const chance = new Chance(seed);
  const faults = new Faults(chance, faultRate);
  const invocations = new Invocations(clock);
  const witnesses = new Witnesses(clock);
  const parts = { clock, chance, faults, invocations, witnesses };
  const queues = new Queues(parts);
  const receivers = new Receivers(parts);
  const requests = new Requests(url, { ...parts, queues });
  const { origin, close } = await receivers.listen();
  for (const [name, value] of Object.entries(environment(origin))) vi.stubEnv(name, value);
  vi.useFakeTimers({ toFake: ["Date"], now: startedAt });
  try {
    const channels = await prepare(origin, witnesses);
    requests.intercept();
    plan(channels, events, parts);
    await run(clock, queues, witnesses);
    await witnesses.checkEnd();
  } finally {
    invocations.endAll();
    await requests.restore();
    vi.useRealTimers();
    vi.unstubAllEnvs();
    await close();
  }
  return {
    ...summaryOf(witnesses),
    posts: receivers.posts,
    faults: Object.fromEntries(Object.entries(faults.counts).sort()),
    violations: witnesses.violations,
    virtualHours: Math.round((clock.now - startedAt) / hour),
  };
};

const environment = (origin: string): Record<string, string> => ({
  SOURCE_QUEUE_URL: "deliveries",
  DELIVERIES_QUEUE_URL: "deliveries",
  DELIVERY_RETRIES_QUEUE_URL: "delivery-retries",
  OUTBOUND_ALLOWED_ORIGINS: origin,
  REDISPATCH_INTERVAL_SECONDS: "3600",
  WAITING_INTERVAL_SECONDS: "1800",
  LONGEST_WAIT_INTERVAL_SECONDS: String((12 * hour) / second),
  POWERTOOLS_LOG_LEVEL: "SILENT",
});

/** Lets virtual time pass until every delivery is settled, at most 47 hours. */
const run = async (clock: Clock, queues: Queues, witnesses: Witnesses): Promise<void> => {
  let nextCheckAt = startedAt;
  while (clock.now < startedAt + 47 * hour) {
    await clock.runDue();
    queues.startWorkers();
    if (clock.nextAt() <= clock.now) continue;
    if (clock.now >= nextCheckAt) {
      if (clock.now > lastPlannedAt && (await witnesses.areSettled())) break;
      nextCheckAt = clock.now + 10 * minute;
    }
    const next = Math.min(queues.nextMessageAt(), clock.nextAt());
    clock.now = Math.max(clock.now + tick, Math.ceil(next / tick) * tick);
    vi.setSystemTime(clock.now);
  }
};

const summaryOf = (witnesses: Witnesses): Pick<Result, "deliveries" | "labels" | "digest"> => {
  const labels: Result["labels"] = {};
  const digest = createHash("sha1");
  const all = witnesses.all();
  for (const { id, channel, label, attempts, posts } of all) {
    labels[channel] = { ...labels[channel], [label]: (labels[channel]?.[label] ?? 0) + 1 };
    digest.update(`${witnesses.ordinalOf(id)} ${channel} ${label} ${attempts} ${posts}\n`);
  }
  return { deliveries: all.length, labels, digest: digest.digest("hex") };
};
