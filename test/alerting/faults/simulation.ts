/**
 * Webhooks whose receivers behave in eight ways. Meanwhile workers die and stall, requests break, messages
 * are late and doubled, and runs of the re-dispatch are missed. Only `Date` is faked: it jumps from one round
 * of concurrent workers to the next. A seed repeats the choices. Workers that run at the same time may take
 * turns in another order.
 */
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { vi } from "vitest";
import { type Receiver, startReceiver } from "../../../local/harness/receiver.ts";
import { administrator } from "../../../shared/access/activity/actor.ts";
import { redeliver } from "../../../shared/alerting/attempts/by-hand.ts";
import * as channels from "../../../shared/alerting/channels/channel.ts";
import * as configure from "../../../shared/alerting/channels/configure.ts";
import { remove } from "../../../shared/alerting/channels/remove.ts";
import { type Delivery, deliveries, raise } from "../../../shared/alerting/deliveries/delivery.ts";
import { deleteHistory } from "../../../shared/alerting/deliveries/history.ts";
import { redispatch } from "../../../shared/alerting/deliveries/redispatch.ts";
import * as queue from "../../../shared/aws/queue/queue.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import type { Message } from "../../../shared/contract/messages.ts";
import { audit } from "../../../shared/operations/audit/audit.ts";
import { createOrganization, invocation, takeMessages } from "../../scanning/in-process-workers.ts";
import { rowsOf } from "../breached-people.ts";
import { createChannel } from "../channels.ts";
import { deliverOne } from "../deliver-one.ts";
import { Chance } from "./chance.ts";
import { Workers } from "./workers.ts";

const second = 1_000;
const minute = 60 * second;

/** Shorter than deployed: what always fails is given up after about an hour. */
const settings = { redispatchSeconds: 300, waitingSeconds: 150, longestWaitSeconds: 3_600, dashboardUrl: "" };

/**
 * By channel: how its receiver answers (a status, or 0 for a reset connection). It gets each `every`th event,
 * and none after this minute of thirty.
 */
const plans: Record<
  string,
  { answer: (now: number, draw: number) => number; every: number; until?: number }
> = {
  healthy: { answer: () => 204, every: 1 },
  flaky: { answer: (_, draw) => (draw < 0.1 ? 0 : draw < 0.4 ? 500 : 204), every: 2 },
  slow: { answer: () => 200, every: 4 },
  down: { answer: (now) => (now < 20 ? 0 : 204), every: 25 },
  dead: { answer: () => 503, every: 40 },
  // Removed after five minutes; some events come later, of scans that read the channels before.
  removed: { answer: (_, draw) => (draw < 0.8 ? 500 : 204), every: 12, until: 8 },
  // Disabled after five minutes for half an hour.
  disabled: { answer: (now) => (now < 35 ? 500 : 204), every: 25, until: 5 },
  // Disabled after eight minutes for good.
  abandoned: { answer: () => 500, every: 60, until: 8 },
};

/** When people retry some deliveries of the channel `dead`, before and after these are given up. */
const retriesByHand = [18, 33, 85, 95].map((at) => ({ at }));
const switches = [
  { at: 5, name: "disabled", isEnabled: false },
  { at: 8, name: "abandoned", isEnabled: false },
  { at: 35, name: "disabled", isEnabled: true },
];
const longest = 300;

/** From one round to the next. */
const steps = [2 * second, 10 * second, minute, 4 * minute];

/** SQS shows a message again after this time if its worker has not deleted it. */
const visibility = 4 * minute;

/** What may follow a status, but for retries by hand. */
const legalNext = {
  pending: ["pending", "retrying", "delivered", "not delivered"],
  retrying: ["retrying", "delivered", "not delivered"],
  delivered: ["delivered"],
  "not delivered": ["not delivered"],
};

type Posts = { count: number; isOpen: boolean; isAccepted: boolean; told: string };
type Act = () => Promise<unknown>;

/** Workers that run at the same time. */
const concurrency = 20;

const runAll = async (acts: readonly Act[]): Promise<void> => {
  const waiting = [...acts];
  const work = async (): Promise<void> => {
    for (let act = waiting.shift(); act !== undefined; act = waiting.shift()) await act();
  };
  await Promise.all(Array.from({ length: concurrency }, work));
};

export type Result = {
  /** Channel name → status → deliveries at the end. */
  labels: Record<string, Record<string, number>>;
  posts: number;
  minutes: number;
  faults: Record<string, number>;
  /** What must not have happened; empty. */
  violations: string[];
};

/** `events`: each makes about two deliveries. `rate`: the probability that a step breaks. */
export const simulate = async (seed: string, events: number, rate: number): Promise<Result> => {
  const simulation = new Simulation(new Chance(seed), events, rate);
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  try {
    return await simulation.run();
  } finally {
    vi.useRealTimers();
  }
};

class Simulation {
  readonly #chance: Chance;
  readonly #workers: Workers;
  readonly #events: number;
  readonly #beginning = Date.now();
  #org = 0;
  readonly #channels = new Map<string, channels.Channel>();
  #raised = 0;
  /** What is still to come. */
  readonly #retries = [...retriesByHand];
  readonly #switches = [...switches];
  readonly #retried = new Set<number>();
  #removedAt = Number.POSITIVE_INFINITY;
  #late: { at: number; message: Message<"deliveries"> }[] = [];
  /** Deliveries as they were when they were last looked at. */
  #rows = new Map<number, Delivery>();
  #gone = 0;
  readonly #posts = new Map<number, Posts>();
  readonly #violations: string[] = [];

  constructor(chance: Chance, events: number, rate: number) {
    this.#chance = chance;
    this.#events = events;
    this.#workers = new Workers(chance, rate);
  }

  async run(): Promise<Result> {
    const receiver: Receiver = await startReceiver({
      respond: ({ url = "" }, response) =>
        void this.#receive(url.slice(1), String(receiver.requests.at(-1)?.body), response),
    });
    vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", receiver.origin);
    await this.#prepare(receiver.origin);
    const restore = this.#workers.intercept();
    try {
      for (let round = 0, isOver = false; !isOver && this.#now() < longest; round++) {
        const name = `round ${round}`;
        const attempts = await this.#attempts(name);
        await runAll([...this.#planned(name), ...attempts]);
        if (round % 2 === 1) isOver = await this.#check();
        vi.setSystemTime(Date.now() + this.#chance.pick(steps, name));
      }
    } finally {
      restore();
      await receiver.close();
    }
    const { differences } = await audit(this.#org);
    return {
      labels: this.#labels(),
      posts: receiver.requests.length,
      minutes: Math.round(this.#now()),
      faults: this.#workers.counts,
      violations: [...this.#violations, ...differences.map(({ kind, id, says }) => `${kind} ${id}: ${says}`)],
    };
  }

  /** In minutes since the beginning. */
  #now(): number {
    return (Date.now() - this.#beginning) / minute;
  }

  /** Takes due messages off a list. */
  #take<T extends { at: number }>(list: T[]): T[] {
    const due = list.filter(({ at }) => at <= this.#now());
    list.splice(0, due.length);
    return due;
  }

  /** An organization with one channel for each receiver. */
  async #prepare(origin: string): Promise<void> {
    this.#org = await createOrganization({});
    for (const name of Object.keys(plans)) {
      const form = { channel: "webhook", config: { url: `${origin}/${name}` } } as const;
      const id = await createChannel(this.#org, {}, form, { notifyOnScanError: true });
      this.#channels.set(name, (await channels.get(this.#org, id)) as channels.Channel);
    }
  }

  #nameOf({ group }: Delivery): string {
    const { channelId } = deliveries.groupOf({ group });
    return [...this.#channels].find(([, { id }]) => id === channelId)?.[0] ?? "";
  }

  async #receive(name: string, body: string, response: ServerResponse): Promise<void> {
    const { id, data } = JSON.parse(body);
    const before = this.#posts.get(id) ?? { count: 0, isOpen: false, isAccepted: false };
    const post = { ...before, count: before.count + 1, isOpen: true, told: `${data.error} to ${name}` };
    this.#posts.set(id, post);
    if (before.isOpen) this.#violations.push(`two posts of delivery ${id} at once`);
    if (name === "removed" && this.#now() > this.#removedAt)
      this.#violations.push(`a post of ${id}, which is gone`);
    await pause(name === "slow" ? 20 : 1);
    const draw = this.#chance.draw(`post ${post.count} of ${id}`);
    const status = plans[name]?.answer(this.#now(), draw) ?? 0;
    post.isOpen = false;
    if (status === 0) return void response.destroy();
    if (status < 300) post.isAccepted = true;
    response.writeHead(status).end();
  }

  /** What happens besides attempts: events, runs of the re-dispatch, changes of channels, retries by hand. */
  #planned(round: string): Act[] {
    const run =
      (name: string, act: Act): Act =>
      () =>
        this.#workers.run(`${round}, ${name}`, act);
    const acts: Act[] = [() => this.#raiseEvents(round)];
    if (!this.#workers.strikes("re-dispatch: missed", round))
      acts.push(run("re-dispatch", () => redispatch(invocation())));
    if (this.#now() >= 5 && this.#now() < 30) acts.push(run("removal", () => this.#removeChannel()));
    for (const { name, isEnabled } of this.#take(this.#switches)) {
      const { id = 0 } = this.#channels.get(name) ?? {};
      acts.push(() => configure.change(this.#org, id, { isEnabled }, administrator, async () => {}));
    }
    if (this.#take(this.#retries).length === 0) return acts;
    for (const [id, row] of this.#rows) {
      if (this.#nameOf(row) !== "dead" || this.#chance.draw(`${round}, retry ${id}`) < 0.5) continue;
      this.#retried.add(id);
      const { channelId } = deliveries.groupOf(row);
      acts.push(run(`retry ${id}`, () => redeliver(this.#org, channelId, id)));
    }
    return acts;
  }

  /**
   * One after the other: each writes the same rows of the directory. A worker that breaks begins its event
   * again in the next round.
   */
  async #raiseEvents(round: string): Promise<void> {
    for (; this.#raised < this.#events && (30 * this.#raised) / this.#events <= this.#now(); this.#raised++) {
      const event = this.#raised;
      const outcome = await this.#workers.run(`${round}, event ${event}`, () => this.#raise(event));
      if (outcome !== "done") return;
    }
  }

  async #raise(event: number): Promise<void> {
    const wanting = Object.entries(plans)
      .filter(([, { every, until = 30 }]) => event % every === 0 && (30 * event) / this.#events <= until)
      .map(([name]) => this.#channels.get(name) as channels.Channel);
    const { writes, messages } = await raise(this.#org, wanting, [
      { type: "scan_error", error: `event ${event}` },
    ]);
    await table.transact(deliveries.writes(this.#org, writes));
    await queue.sendAll("deliveries", messages);
  }

  /** Repeated until the history is deleted, as client and sweep do. */
  async #removeChannel(): Promise<void> {
    const { id = 0 } = this.#channels.get("removed") ?? {};
    if ((await channels.get(this.#org, id)) !== undefined) await remove(this.#org, id, administrator);
    // Workers of this round may have read it before.
    this.#removedAt = Math.min(this.#removedAt, this.#now());
    const removal = await table.get(keys.channelRemoval(this.#org, id));
    if (removal !== undefined) await deleteHistory(this.#org, id, () => true);
  }

  /** A worker for each message that the queues show, now and then two. */
  async #attempts(round: string): Promise<Act[]> {
    const { due = [], later = [] } = Object.groupBy(this.#late, ({ at }) =>
      at <= Date.now() ? "due" : "later",
    );
    this.#late = later;
    const messages = [
      ...due.map(({ message }) => message),
      ...(await takeMessages("deliveries")),
      ...(await takeMessages("delivery-retries")),
    ];
    return messages.flatMap((message, index) => {
      const attempt =
        (copy: number): Act =>
        async () => {
          const name = `${round}, message ${index}, copy ${copy}`;
          const outcome = await this.#workers.run(name, () => deliverOne(message, settings));
          if (outcome !== "done" || this.#workers.strikes("message: not deleted", name))
            this.#late.push({ at: Date.now() + visibility, message });
        };
      const isTwice = this.#workers.strikes("message: delivered twice", `${round}, message ${index}`);
      return isTwice ? [attempt(1), attempt(2)] : [attempt(1)];
    });
  }

  /**
   * Compares all deliveries with what they were two rounds ago, and with what the receivers saw. True:
   * nothing is left to do.
   */
  async #check(): Promise<boolean> {
    const rows = new Map((await rowsOf(this.#org, deliveries)).map((row) => [row.id, row]));
    for (const before of this.#rows.values()) {
      if (rows.has(before.id)) continue;
      this.#gone++;
      if (this.#nameOf(before) !== "removed") this.#violations.push(`delivery ${before.id} is lost`);
    }
    for (const row of rows.values()) this.#checkRow(this.#rows.get(row.id), row);
    this.#rows = rows;
    const isOpen = [...rows.values()].some(({ dueAt }) => dueAt !== undefined);
    return this.#raised === this.#events && this.#retries.length === 0 && !isOpen;
  }

  #checkRow(before: Delivery | undefined, row: Delivery): void {
    const { id, status, attempts, event, attemptLimit = 30 } = row;
    const post = this.#posts.get(id);
    const isRetried = this.#retried.has(id);
    const isOver = status === "delivered" || status === "not delivered";
    const told = event.type === "scan_error" && `${event.error} to ${this.#nameOf(row)}`;
    const isFollowing = legalNext[before?.status ?? "pending"].includes(status);
    const expected = {
      "an impossible change of status": isFollowing || (isRetried && status === "retrying"),
      "forgotten attempts": attempts >= (before?.attempts ?? 0),
      "too many attempts": attempts <= attemptLimit && (attemptLimit === 30 || isRetried),
      "more failed attempts than attempts": row.failedAttempts <= attempts,
      "more posts than attempts": (post?.count ?? 0) <= attempts,
      "another event": post === undefined || post.told === told,
      "an entry in the due index, or none":
        isOver === (row.dueAt === undefined && row.dueShard === undefined),
      "delivered without being accepted": status !== "delivered" || post?.isAccepted === true,
      "given up too early":
        status !== "not delivered" || attempts >= 30 || row.failureReason === "channel was disabled",
    };
    for (const [what, holds] of Object.entries(expected))
      if (!holds)
        this.#violations.push(`${what}: ${before?.status}, then ${JSON.stringify({ ...row, post })}`);
  }

  #labels(): Result["labels"] {
    const labels: Result["labels"] = { removed: { gone: this.#gone } };
    for (const row of this.#rows.values()) {
      const { [this.#nameOf(row)]: ofChannel = {} } = labels;
      labels[this.#nameOf(row)] = { ...ofChannel, [row.status]: (ofChannel[row.status] ?? 0) + 1 };
    }
    return labels;
  }
}
