/**
 * Runs the real workers of alerts against the real table engine and queue server while things break, in virtual time.
 *
 * Only `Date` is faked: product, queue and SDK live by one clock, which jumps from one thing that is due to the next. A
 * worker stops in front of every write, every send and every answer of a receiver; the simulation lets it go on later
 * by that clock, in between other workers, and there it may fail, be killed, or have its request applied twice. So
 * workers interleave at every step. What happens is drawn from the seed and the names of things, so that equal seeds give equal runs.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { createHash } from "node:crypto";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import {
  ReceiveMessageCommand,
  type SendMessageBatchCommand,
  type SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import type { Context, SQSEvent } from "aws-lambda";
import { vi } from "vitest";
import { handler as deliver } from "../../functions/deliver-alert/handler.ts";
import { handler as redispatch } from "../../functions/redispatch-alerts/handler.ts";
import { type SqsQueue, SqsStore } from "../../node_modules/fauxqs/dist/sqs/sqsStore.js";
import * as channels from "../../shared/alerts/channel.ts";
import * as configure from "../../shared/alerts/configure.ts";
import { type AlertEvent, type Delivery, deliveries, raise } from "../../shared/alerts/delivery.ts";
import { deleteHistory } from "../../shared/alerts/history.ts";
import * as operator from "../../shared/alerts/operator.ts";
import { administrator } from "../../shared/organizations/actor.ts";
import * as organizations from "../../shared/organizations/organization.ts";
import * as queue from "../../shared/queue/queue.ts";
import { rowsOf } from "../../shared/table/directory.ts";
import { dueIndex, dueShardsOf, keys } from "../../shared/table/keys.ts";
import * as table from "../../shared/table/table.ts";
import { activeBilling } from "../organizations/billing.ts";
import { Clock, common, drawing, tick } from "./faults-clock.ts";
import { connectTable } from "./faults-table.ts";

export type Settings = {
  /** Of the table engine. */
  url: string;
  seed: string;
  /** Events that are raised, each for some of the channels; about twice as many deliveries. */
  events: number;
  /** How likely it is that a step breaks in some way. */
  faultRate: number;
};

export type Result = {
  deliveries: number;
  posts: number;
  /** Broken steps, by how they broke. */
  faults: Record<string, number>;
  /** Channel name → label → deliveries at the end. */
  labels: Record<string, Record<string, number>>;
  /** What must not have happened; empty. */
  violations: string[];
  virtualHours: number;
  /** Equal for equal runs. */
  digest: string;
};

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

const functionTimeout = 40 * second;
/** The schedule's runs are a minute apart; fewer of them find the same, a little later. Each comes at any time within this. */
const redispatchInterval = 2 * minute;
const startedAt = Date.UTC(2030, 0, 1);

type Stop =
  | { kind: "pause"; delay: number; goOn: () => void }
  | { kind: "end"; outcome: "done" | "failed" | "dead" };

/** One run of a worker. `lane`: of what belongs to one delivery, things run one after the other. */
type Invocation = {
  name: string;
  lane: string;
  /** Whether it stops at its steps; the re-dispatch, which works on many deliveries at once, does not. */
  pauses: boolean;
  /** Ended, in whatever way; nothing of it goes on. */
  over: boolean;
  /** How often it came to each step, by name. */
  counts: Map<string, number>;
  /** It was killed in one of several things at once: it ends when the rest of its requests are through. */
  hangs: boolean;
  /** Requests that are under way. */
  inFlight: number;
  stops: Stop[];
  heard: (() => void) | undefined;
  /** The post that it waits for. */
  post: { witness: Witness; response: ServerResponse } | undefined;
};

/** What a receiver does with a post. */
type Reaction = { after: number; status: number | "reset" };
type Behaviour = (elapsed: number, draw: number) => Reaction;

const accepts: Reaction = { after: 100, status: 204 };
const behaviours: Record<string, Behaviour> = {
  healthy: () => accepts,
  flaky: (_, draw) => (draw < 0.4 ? { after: 300, status: draw < 0.1 ? "reset" : 500 } : accepts),
  slow: (_, draw) =>
    draw < 0.2 ? { after: 10 * second, status: "reset" } : { after: 500 + draw * 8 * second, status: 200 },
  // Up again after three hours.
  down: (elapsed) => (elapsed < 3 * hour ? { after: 0, status: "reset" } : accepts),
  dead: () => ({ after: 50, status: 503 }),
  // Removed after 20 minutes.
  removed: (_, draw) => (draw < 0.8 ? { after: 2 * second, status: 500 } : accepts),
  // Disabled from 30 minutes on for five hours; then it would accept.
  disabled: (elapsed) => (elapsed < 5 * hour ? { after: 100, status: 500 } : accepts),
  // Disabled after 40 minutes and left so.
  abandoned: () => ({ after: 100, status: 500 }),
};

/** Every so many events a channel of a kind gets one. */
const everyEvents: Record<string, number> = {
  healthy: 1,
  flaky: 2,
  slow: 4,
  down: 25,
  dead: 40,
  removed: 12,
  disabled: 25,
  abandoned: 60,
};

const legalNext: Record<string, readonly string[]> = {
  new: ["pending"],
  pending: ["pending", "retrying", "delivered", "not_delivered", "gone"],
  retrying: ["retrying", "delivered", "not_delivered", "gone"],
  delivered: ["delivered", "gone"],
  not_delivered: ["not_delivered", "gone"],
  gone: ["gone"],
};

/** What the simulation knows of a delivery, apart from the product. */
type Witness = {
  id: number;
  channel: string;
  error: string;
  label: string;
  attempts: number;
  posts: number;
  timestamps: Set<string>;
  accepted: boolean;
  /** A post is under way. */
  isOpen: boolean;
  invocations: number;
  handRetries: number;
};

export const simulate = async (settings: Settings): Promise<Result> => {
  const { seed, faultRate } = settings;
  const clock = new Clock(startedAt);
  const draw = drawing(seed);
  const at = clock.at.bind(clock);
  const violations: string[] = [];
  const faults: Record<string, number> = {};
  const witnesses = new Map<number, Witness>();
  const running = new AsyncLocalStorage<Invocation>();
  /** The worker that is at work on a delivery at this very moment. */
  const atWork = new Map<number, Invocation>();

  // --- Chance

  const pick = <T>(choices: readonly T[], name: string): T =>
    choices[Math.floor(draw(name) * choices.length)] as T;

  /** Mostly short, now and then as long as a function that is stuck. */
  const delayOf = (name: string): number => {
    const kind = draw(`${name}/delay`);
    const length = draw(`${name}/length`);
    if (kind < 0.85) return Math.round(length * 2) * tick;
    return kind < 0.97 ? length * 3 * second : length * 25 * second;
  };

  const note = (fault: string): void => {
    faults[fault] = (faults[fault] ?? 0) + 1;
  };

  // --- Workers

  const arrive = (invocation: Invocation, stop: Stop): void => {
    invocation.stops.push(stop);
    invocation.heard?.();
  };

  const end = (invocation: Invocation, outcome: "done" | "failed" | "dead"): void => {
    if (invocation.over) return;
    invocation.over = true;
    closePost(invocation);
    arrive(invocation, { kind: "end", outcome });
  };

  /** Waits for the next stop of an invocation, and sees to it that it goes on from there. */
  const follow = async (invocation: Invocation, onEnd: (outcome: string) => void): Promise<void> => {
    const stop = await nextStop(invocation);
    if (stop.kind === "end") return onEnd(stop.outcome);
    at(clock.now + stop.delay, invocation.lane, async () => {
      if (invocation.over) return;
      const id = Number(invocation.lane);
      atWork.set(id, invocation);
      stop.goOn();
      await follow(invocation, onEnd);
      atWork.delete(id);
    });
  };

  const nextStop = async (invocation: Invocation): Promise<Stop> => {
    for (let quiet = 0; ; ) {
      const stop = invocation.stops.shift();
      if (stop !== undefined) return stop;
      if (!invocation.hangs) {
        await new Promise<void>((resolve) => {
          invocation.heard = resolve;
        });
        continue;
      }
      await new Promise((resolve) => setImmediate(resolve));
      quiet = invocation.inFlight === 0 ? quiet + 1 : 0;
      if (quiet > 5) end(invocation, "dead");
    }
  };

  const start = async (
    { name, lane, pauses = true }: { name: string; lane: string; pauses?: boolean },
    work: () => Promise<unknown>,
    onEnd: (outcome: string) => void = () => undefined,
  ): Promise<void> => {
    const invocation: Invocation = {
      name,
      lane,
      pauses,
      over: false,
      counts: new Map(),
      hangs: false,
      inFlight: 0,
      stops: [],
      heard: undefined,
      post: undefined,
    };
    at(clock.now + functionTimeout, lane, async () => end(invocation, "dead"));
    atWork.set(Number(lane), invocation);
    running.run(invocation, () => {
      work().then(
        () => end(invocation, "done"),
        () => end(invocation, "failed"),
      );
    });
    await follow(invocation, onEnd);
    atWork.delete(Number(lane));
  };

  /** The name of this step, which is another each time. */
  const nameStep = (invocation: Invocation, kind: string): string => {
    const count = invocation.counts.get(kind) ?? 0;
    invocation.counts.set(kind, count + 1);
    return `${invocation.name}/${kind}/${count}`;
  };

  const never = new Promise<never>(() => undefined);

  /** Stops an invocation in front of a request, and breaks the request in one way or another. */
  const step = async <R>(
    kind: "write" | "send",
    about: number,
    isTransaction: boolean,
    perform: () => Promise<R>,
  ): Promise<R> => {
    const invocation = running.getStore();
    if (invocation === undefined) return perform();
    if (invocation.over) return never;
    // Those that do not pause do many steps at once: each is named by what it is about.
    const name = nameStep(invocation, invocation.pauses ? kind : `${kind} ${ordinalOf(about)}`);
    if (invocation.pauses) {
      await new Promise<void>((goOn) => arrive(invocation, { kind: "pause", delay: delayOf(name), goOn }));
    }
    const choices = invocation.pauses ? faultsOf[kind] : faultsOf.common;
    const fault = draw(`${name}/broken`) < faultRate ? pick(choices, `${name}/how`) : "none";
    if (fault !== "none") note(`${kind}: ${fault}`);
    const die = (): Promise<never> => {
      if (invocation.pauses) end(invocation, "dead");
      else {
        invocation.hangs = true;
        invocation.heard?.();
      }
      return never;
    };
    switch (fault) {
      case "kill before":
        return die();
      case "fail before":
        throw injected("InternalServerError");
      case "conflict":
        throw isTransaction ? conflict() : injected("TransactionConflictException");
      case "drop":
        return { MessageId: "dropped" } as R;
    }
    const reply = await perform();
    if (kind === "write" && invocation.pauses) await observe(invocation);
    if (invocation.over) return never;
    switch (fault) {
      case "kill after":
        return die();
      case "fail after":
        throw injected("InternalServerError");
      case "repeat":
        return perform();
    }
    return reply;
  };

  const counted = async <R>(perform: () => Promise<R>): Promise<R> => {
    const invocation = running.getStore();
    if (invocation === undefined) return perform();
    invocation.inFlight++;
    try {
      return await perform();
    } finally {
      invocation.inFlight--;
    }
  };

  const [wire, documents] = [table.wire(), table.documents()];
  const send = { wire: wire.send, documents: documents.send };
  const wires = connectTable(settings.url);

  const breakTable = (): void => {
    const sendCounted = (command: Parameters<typeof wires.send>[0]) => counted(() => wires.send(command));
    wire.send = sendCounted as typeof wire.send;
    documents.send = ((command: Parameters<typeof wires.send>[0]) => {
      const isTransaction = command instanceof TransactWriteCommand;
      return step("write", idOf(command), isTransaction, async () => {
        const reply = await sendCounted(command);
        if (isTransaction) record(command);
        return reply;
      });
    }) as typeof documents.send;
  };

  const sendToQueue = SQSClient.prototype.send;

  const breakQueue = (): void => {
    SQSClient.prototype.send = ((
      command: SendMessageCommand | SendMessageBatchCommand | ReceiveMessageCommand,
    ) => {
      // Every message gets an invocation of its own, by the clock: there is none to take meanwhile.
      if (command instanceof ReceiveMessageCommand) return pause(50, { Messages: [] });
      const { QueueUrl } = command.input;
      const entries = "Entries" in command.input ? (command.input.Entries ?? []) : [command.input];
      const messages = entries as { MessageBody: string; DelaySeconds?: number }[];
      const { deliveryId } = JSON.parse(messages[0]?.MessageBody ?? "{}") as { deliveryId?: number };
      return step("send", deliveryId ?? 0, false, async () => {
        for (const { MessageBody, DelaySeconds } of messages) {
          const queue = lanes.find(({ url }) => url === QueueUrl);
          queue?.enqueue(SqsStore.createMessage(MessageBody, {}, DelaySeconds));
        }
        return {};
      });
    }) as typeof SQSClient.prototype.send;
  };

  const { random } = Math;
  const seedRandom = (): void => {
    Math.random = () => {
      const invocation = running.getStore();
      return invocation === undefined ? random() : draw(`${invocation.name}/random`);
    };
  };

  // --- What is seen from outside

  let firstId = 0;
  /** The place of a delivery among those of its organization: the same in every run, as the id is not. */
  const ordinalOf = (id: number): number => id - firstId;

  /** Notes the deliveries that a transaction has just made, and that it has removed the channel that is to be removed. */
  const record = (command: TransactWriteCommand): void => {
    for (const { Put, Delete } of command.input.TransactItems ?? []) {
      if (Delete?.Key?.pk === keys.channel(org, 0).pk) removedAt ??= clock.now;
      const row = Put?.Item as (Delivery & { event: { error: string } }) | undefined;
      if (row?.event === undefined || witnesses.has(row.id)) continue;
      if (firstId === 0) firstId = row.id;
      witnesses.set(row.id, {
        id: row.id,
        channel: nameOf.get(deliveries.facetOf(row).channelId) ?? "",
        error: row.event.error,
        label: "pending",
        attempts: 0,
        posts: 0,
        timestamps: new Set(),
        accepted: false,
        isOpen: false,
        invocations: 0,
        handRetries: 0,
      });
    }
  };

  const violate = (witness: Witness, what: string): void => {
    violations.push(
      `${what} (delivery ${ordinalOf(witness.id)} of "${witness.channel}", hour ${((clock.now - startedAt) / hour).toFixed(2)})`,
    );
  };

  /** Looks at the row that a worker has just written: whether it may follow from what it was. */
  const observe = async (invocation: Invocation): Promise<void> => {
    const witness = witnesses.get(Number(invocation.lane));
    if (witness === undefined) return;
    const row = await running.exit(() => deliveries.get(org, witness.id));
    checkRow(witness, row, invocation.name.startsWith("by hand"));
  };

  const checkRow = (witness: Witness, row: Delivery | undefined, isByHand: boolean): void => {
    const before = witness.label;
    const label = row === undefined ? "gone" : row.status;
    const reopened = isByHand && before === "not_delivered" && label === "retrying";
    if (reopened) witness.handRetries++;
    else if (!legalNext[before]?.includes(label)) violate(witness, `${before} became ${label}`);
    witness.label = label;
    if (row === undefined) {
      if (removedAt === undefined || witness.channel !== "removed") violate(witness, "lost");
      return;
    }
    if (row.attempts < witness.attempts) violate(witness, "attempts were forgotten");
    if (row.attempts > 30 + 3 * witness.handRetries) violate(witness, `${row.attempts} attempts`);
    if (witness.posts > row.attempts) violate(witness, `${witness.posts} posts in ${row.attempts} attempts`);
    witness.attempts = row.attempts;
    const isOver = label === "delivered" || label === "not_delivered";
    if (isOver !== (row.dueAt === undefined) || isOver !== (row.dueShard === undefined)) {
      violate(witness, `${label}, due ${row.dueAt}`);
    }
    if (label === "delivered" && !witness.accepted) violate(witness, "delivered, but nobody accepted it");
    const isGivenUp = row.attempts >= 30 || row.failureReason === "channel was disabled";
    if (label === "not_delivered" && !isGivenUp) violate(witness, `given up after ${row.attempts} attempts`);
    if (row.failedAttempts > row.attempts) violate(witness, "more failed attempts than attempts");
  };

  // --- Receivers

  const closePost = (invocation: Invocation): void => {
    if (invocation.post === undefined) return;
    const { witness, response } = invocation.post;
    invocation.post = undefined;
    witness.isOpen = false;
    response.destroy();
  };

  let posts = 0;
  const receivers = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, timestamp, data } = JSON.parse(Buffer.concat(chunks).toString());
    const witness = witnesses.get(id);
    const invocation = atWork.get(id);
    if (witness === undefined || invocation === undefined) {
      violations.push(`A post of the unknown delivery ${id}`);
      response.writeHead(500).end();
      return;
    }
    posts++;
    witness.posts++;
    if (witness.isOpen) violate(witness, "two posts at once");
    if (witness.timestamps.has(timestamp)) violate(witness, "two posts with one timestamp");
    if (data.error !== witness.error || request.url !== `/${witness.channel}`)
      violate(witness, "wrong event");
    if (witness.channel === "removed" && removedAt !== undefined && clock.now > removedAt + functionTimeout) {
      violate(witness, "a post to a removed channel");
    }
    witness.timestamps.add(timestamp);
    witness.isOpen = true;
    const name = nameStep(invocation, "post");
    const { after, status } = behaviours[witness.channel]?.(clock.now - startedAt, draw(name)) ?? accepts;
    if (draw(`${name}/broken`) < faultRate) {
      note("post: kill");
      at(clock.now + after * draw(`${name}/how`), invocation.lane, async () => end(invocation, "dead"));
    }
    const post = { witness, response };
    invocation.post = post;
    const goOn = (): void => {
      if (invocation.post !== post) return;
      invocation.post = undefined;
      witness.isOpen = false;
      if (status === "reset") return void response.destroy();
      if (status < 300) witness.accepted = true;
      response.writeHead(status).end();
    };
    // The sender's ten seconds are real ones: on a machine that is very slow, they may pass here.
    response.on("close", () => {
      if (invocation.post !== post) return;
      note("post: deadline, which no other run need have");
      invocation.post = undefined;
      witness.isOpen = false;
    });
    arrive(invocation, { kind: "pause", delay: after, goOn });
  });
  await listen(receivers);
  const origin = `http://127.0.0.1:${(receivers.address() as AddressInfo).port}`;

  // --- Queues

  const store = createQueues();
  const lanes = ["deliveries", "delivery-retries"].map((name) => store.getQueueByName(name) as SqsQueue);

  /** Starts a worker for every message that is visible; now and then two. */
  const receive = (): void => {
    for (const lane of lanes) {
      lane.processTimers();
      while (lane.messages.length > 0) {
        for (const message of lane.dequeue(10, undefined, (arn) => store.getQueueByArn(arn))) {
          const { deliveryId } = JSON.parse(message.Body) as { deliveryId: number };
          const witness = witnesses.get(deliveryId);
          if (witness === undefined) {
            violations.push(`A message of the unknown delivery ${deliveryId}`);
            continue;
          }
          const begin = (): void => {
            const name = `delivery ${ordinalOf(deliveryId)}/${witness.invocations++}`;
            at(clock.now + delayOf(name) / 5, String(deliveryId), () =>
              work(name, lane, message, deliveryId),
            );
            if (draw(`${name}/broken`) < faultRate) {
              note("queue: delivered twice");
              begin();
            }
          };
          begin();
        }
      }
    }
  };

  const work = async (
    name: string,
    lane: SqsQueue,
    message: { MessageId: string; ReceiptHandle: string; Body: string },
    deliveryId: number,
  ): Promise<void> => {
    await start(
      { name, lane: String(deliveryId) },
      () => deliver(eventWith(message), contextAt(clock.now + functionTimeout)),
      (outcome) => {
        if (outcome !== "done") return;
        if (draw(`${name}/delete`) < faultRate) note("queue: message not deleted");
        else lane.deleteMessage(message.ReceiptHandle);
      },
    );
  };

  const nextMessageAt = (): number => {
    const times = lanes.flatMap((lane) => [
      ...lane.delayedMessages.map(({ delayUntil }) => delayUntil ?? 0),
      ...[...lane.inflightMessages.values()].map(({ visibilityDeadline }) => visibilityDeadline),
    ]);
    return times.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...times);
  };

  const contextAt = (deadline: number): Context =>
    ({ getRemainingTimeInMillis: () => deadline - clock.now }) as unknown as Context;

  // --- The world

  const nameOf = new Map<number, string>();
  let org = 0;
  let removedAt: number | undefined;

  const prepare = async (): Promise<Record<string, channels.Channel>> => {
    const organization = await organizations.create({
      name: "Faults",
      billing: activeBilling,
      scanEvery: "never",
    });
    org = organization.id;
    const made: Record<string, channels.Channel> = {};
    for (const name of Object.keys(behaviours)) {
      const id = await configure.create(
        org,
        {
          channel: "webhook",
          config: { url: `${origin}/${name}` },
          isEnabled: true,
          notifyOnNewBreach: true,
          notifyOnScanComplete: true,
          notifyOnScanError: true,
        },
        administrator,
        async () => undefined,
      );
      nameOf.set(id, name);
      made[name] = (await channels.get(org, id)) as channels.Channel;
    }
    return made;
  };

  const plan = (all: Record<string, channels.Channel>): void => {
    for (let number = 0; number < settings.events; number++) {
      const time = startedAt + (Math.floor(number / 10) * 10 * hour) / settings.events;
      const elapsed = time - startedAt;
      const wanting = Object.entries(everyEvents)
        .filter(([, every]) => number % every === 0)
        // Of a removed channel a few more: scans that read the channels before.
        .filter(([name]) => !(name === "removed" && elapsed > 30 * minute))
        .filter(([name]) => !(name === "disabled" && elapsed > 30 * minute))
        .filter(([name]) => !(name === "abandoned" && elapsed > 40 * minute))
        .map(([name]) => all[name] as channels.Channel);
      const event: AlertEvent = { type: "scan_error", error: `event ${number}` };
      at(time, common, () =>
        start({ name: `raise ${number}`, lane: common }, () => raiseEvent(wanting, event)),
      );
    }
    const redispatchAt = (count: number): void => {
      const name = `re-dispatch ${count}`;
      at(startedAt + (count + draw(`${name}/when`)) * redispatchInterval, common, async () => {
        redispatchAt(count + 1);
        if (draw(`${name}/missed`) < faultRate) return note("schedule: run missed");
        await start({ name, lane: common, pauses: false }, () =>
          redispatch({}, contextAt(clock.now + 55 * second)),
        );
      });
    };
    redispatchAt(1);
    const channelIdOf = (name: string): number => all[name]?.id ?? 0;
    const setEnabled = (name: string, isEnabled: boolean) => async () => {
      await configure.change(org, channelIdOf(name), { isEnabled }, administrator, async () => undefined);
    };
    at(startedAt + 30 * minute, common, setEnabled("disabled", false));
    at(startedAt + 5.5 * hour, common, setEnabled("disabled", true));
    at(startedAt + 40 * minute, common, setEnabled("abandoned", false));
    // Again and again until it is done, as client and sweep do.
    for (let count = 0; count < 20; count++) {
      const name = `removal ${count}`;
      at(startedAt + 20 * minute + count * 5 * minute, common, () =>
        start({ name, lane: common }, () => removeChannel(channelIdOf("removed"))),
      );
    }
    for (const hours of [2.5, 4.5, 11.5, 12.5]) {
      at(startedAt + hours * hour, common, async () => {
        const some = [...witnesses.values()].filter(
          ({ id, channel }) => channel === "dead" && draw(`by hand ${hours} ${ordinalOf(id)}`) < 0.3,
        );
        for (const { id } of some) {
          const name = `by hand ${hours} ${ordinalOf(id)}`;
          at(clock.now + delayOf(name), String(id), () =>
            start({ name, lane: String(id) }, () => operator.retry(org, id)),
          );
        }
      });
    }
  };
  const lastPlanned = startedAt + 12.5 * hour;

  const raiseEvent = async (wanting: channels.Channel[], event: AlertEvent): Promise<void> => {
    const { writes, messages } = await raise(org, wanting, [event]);
    await table.transact(deliveries.writes(org, writes));
    await queue.sendAll("deliveries", messages);
  };

  const removeChannel = async (id: number): Promise<void> => {
    if ((await channels.get(org, id)) !== undefined) await channels.remove(org, id, administrator);
    if ((await table.get(keys.channelRemoval(org, id))) !== undefined) {
      await deleteHistory(org, id, () => true);
    }
  };

  const isSettled = async (): Promise<boolean> => {
    if (clock.now <= lastPlanned) return false;
    const directory = await deliveries.directory(org);
    const rows = await Promise.all(
      deliveries.blocks(directory).map((block) => deliveries.members(org, block)),
    );
    return rows.flat().every(({ status }) => status === "delivered" || status === "not_delivered");
  };

  const checkEnd = async (): Promise<void> => {
    const directory = await deliveries.directory(org);
    const blocks = rowsOf(directory).map(({ block }) => block);
    const rows = (await Promise.all(blocks.map((block) => deliveries.members(org, block)))).flat();
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const witness of witnesses.values()) {
      checkRow(witness, byId.get(witness.id), false);
      if (witness.channel === "removed") {
        if (witness.label !== "gone") violate(witness, "history of a removed channel");
      } else if (witness.label === "pending" || witness.label === "retrying")
        violate(witness, "never settled");
    }
    for (const row of rows) if (!witnesses.has(row.id)) violations.push(`Delivery ${row.id} from nowhere`);
    const facets = new Set([
      ...directory.flatMap(({ counts }) => [...counts.keys()]),
      ...rows.map((row) => row.facet),
    ]);
    for (const facet of facets) {
      const counters = directory.reduce((sum, { counts }) => sum + (counts.get(facet) ?? 0), 0);
      const members = rows.filter((row) => row.facet === facet).length;
      if (counters !== members) violations.push(`${counters} counted of ${facet}, where ${members} are`);
    }
    for (const shard of dueShardsOf("DELIVERY")) {
      const due = await table.query<{ pk: string }>({ index: dueIndex, pk: shard });
      const own = due.filter(({ pk }) => pk.startsWith(`ORG#${org}#`));
      if (own.length > 0) violations.push(`${own.length} deliveries are still due`);
    }
  };

  const environment = {
    SOURCE_QUEUE_URL: "deliveries",
    DELIVERIES_QUEUE_URL: "deliveries",
    DELIVERY_RETRIES_QUEUE_URL: "delivery-retries",
    OUTBOUND_ALLOWED_ORIGINS: origin,
    REDISPATCH_INTERVAL_SECONDS: "3600",
    WAITING_INTERVAL_SECONDS: "1800",
    LONGEST_WAIT_INTERVAL_SECONDS: String((12 * hour) / second),
    POWERTOOLS_LOG_LEVEL: "SILENT",
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  vi.useFakeTimers({ toFake: ["Date"], now: startedAt });
  try {
    const all = await prepare();
    breakTable();
    breakQueue();
    seedRandom();
    plan(all);
    let nextLook = startedAt;
    while (clock.now < startedAt + 47 * hour) {
      await clock.runDue();
      receive();
      if (clock.nextAt() <= clock.now) continue;
      if (clock.now >= nextLook) {
        if (await isSettled()) break;
        nextLook = clock.now + 10 * minute;
      }
      const next = Math.min(nextMessageAt(), clock.nextAt());
      clock.now = Math.max(clock.now + tick, Math.ceil(next / tick) * tick);
      vi.setSystemTime(clock.now);
    }
    await checkEnd();
  } finally {
    wire.send = send.wire;
    documents.send = send.documents;
    SQSClient.prototype.send = sendToQueue;
    Math.random = random;
    vi.useRealTimers();
    vi.unstubAllEnvs();
    receivers.close();
    receivers.closeAllConnections();
    await wires.close();
  }

  const labels: Result["labels"] = {};
  const digest = createHash("sha1");
  for (const { id, channel, label, attempts, posts: own } of [...witnesses.values()].sort(
    (a, b) => a.id - b.id,
  )) {
    labels[channel] = { ...labels[channel], [label]: (labels[channel]?.[label] ?? 0) + 1 };
    digest.update(`${ordinalOf(id)} ${channel} ${label} ${attempts} ${own}\n`);
  }
  return {
    deliveries: witnesses.size,
    posts,
    faults: Object.fromEntries(Object.entries(faults).sort()),
    labels,
    violations,
    virtualHours: Math.round((clock.now - startedAt) / hour),
    digest: digest.digest("hex"),
  };
};

/** The queues that the workers use; their url is their name. */
const createQueues = (): SqsStore => {
  const store = new SqsStore();
  const redrive = { deadLetterTargetArn: "dead-letters", maxReceiveCount: 5 };
  for (const name of ["deliveries", "delivery-retries"]) {
    store.createQueue(name, name, name, { VisibilityTimeout: "240", RedrivePolicy: JSON.stringify(redrive) });
  }
  store.createQueue("dead-letters", "dead-letters", "dead-letters");
  return store;
};

const faultsOf = {
  write: ["kill before", "kill after", "fail before", "fail after", "repeat", "conflict"],
  send: ["kill before", "kill after", "fail before", "fail after", "repeat", "drop"],
  /** Of those that do not pause: nothing after which the product waits a little, since the moment must end. */
  common: ["kill before", "kill after", "fail before", "fail after", "repeat"],
} as const;

/** Every kind of fault that a run of some size meets. */
export const faultKinds: readonly string[] = [
  ...faultsOf.write.map((fault) => `write: ${fault}`),
  ...faultsOf.send.map((fault) => `send: ${fault}`),
  "post: kill",
  "queue: delivered twice",
  "queue: message not deleted",
  "schedule: run missed",
];

const injected = (name: string): Error => Object.assign(new Error("injected"), { name });

const conflict = (): Error =>
  new TransactionCanceledException({
    message: "injected",
    $metadata: {},
    CancellationReasons: [{ Code: "TransactionConflict" }],
  });

/** The id in the key that a command writes. */
const idOf = (command: unknown): number =>
  Number((command as { input: { Key?: { sk: string } } }).input.Key?.sk);

const eventWith = ({
  MessageId,
  ReceiptHandle,
  Body,
}: {
  MessageId: string;
  ReceiptHandle: string;
  Body: string;
}) =>
  ({
    Records: [
      {
        messageId: MessageId,
        receiptHandle: ReceiptHandle,
        body: Body,
        attributes: { ApproximateReceiveCount: "1" },
        messageAttributes: {},
        eventSource: "aws:sqs",
      },
    ],
  }) as unknown as SQSEvent;

const listen = (server: Server): Promise<void> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
