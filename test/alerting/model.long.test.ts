/**
 * A model of who is told what: each finding is in exactly one message of each channel, whatever dies. Random
 * histories of scans, findings, severities, changed options and removed channels; workers die between any two
 * writes, and queues lose and repeat messages.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Receiver, startReceiver } from "../../local/harness/receiver.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import type { AlertOptions } from "../../shared/alerting/channels/channel-schema.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import { setOptions } from "../../shared/alerting/channels/options.ts";
import { remove } from "../../shared/alerting/channels/remove.ts";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import { redispatch } from "../../shared/alerting/deliveries/redispatch.ts";
import { wakeDue, work } from "../../shared/alerting/outbox/work.ts";
import { forEachDue } from "../../shared/aws/queue/due-rows.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as catalog from "../../shared/hibp/catalog.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import { severityRisen } from "../../shared/outbox/outbox.ts";
import { check } from "../../shared/scanning/check.ts";
import { lookUp } from "../../shared/scanning/look-up.ts";
import { plan } from "../../shared/scanning/plan.ts";
import { start } from "../../shared/scanning/start.ts";
import { sweepScan } from "../../shared/scanning/sweep.ts";
import {
  createOrganization,
  invocation,
  outboxSettings,
  readScan,
  runLookUps,
  startAndPlan,
  sweepOf,
  takeMessages,
} from "../scanning/in-process-workers.ts";
import {
  deliveriesOf,
  describeBreach,
  domain,
  findingsOf,
  rowsOf,
  timesTold,
  useBreachedPeople,
} from "./breached-people.ts";
import { createChannel } from "./channels.ts";
import { deliverOne } from "./deliver-one.ts";
import { Chance } from "./faults/chance.ts";
import { faultKinds, Workers } from "./faults/workers.ts";
import { settings, useMailServer } from "./mail-deliveries.ts";

/** The probability that a write breaks, and that a message is lost or comes twice. */
const rates = { request: 0.04, message: 0.12 };
/**
 * A message comes up to so many rounds later. Look-ups come late, so that scans run longer than the first
 * message waits.
 */
const latest = { plan: 1, check: 1, "look-up": 6, outbox: 1, delivery: 2 };
/** Half of them are found by the search of a domain, and the others looked up one by one. */
const people = 24;
const single = "single.example";
const scansOfHistory = 4;
const maximumRounds = 500;
const breaches = ["Alpha", "Beta", "Gamma", "Secret"];

/** A seed repeats the choices, while what runs at the same time may take turns in another order. */
const seeds = process.env.MODEL_SEED?.split(",") ?? ["1", "2", "3"];

const { workers } = useBreachedPeople();
useMailServer();
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver({ respond: (_, response) => response.writeHead(200).end() });
  vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", receiver.origin);
});
afterAll(() => receiver.close());

const slack = (name: string) =>
  ({ channel: "slack", config: { webhookUrl: `${receiver.origin}/${name}` } }) as const;
const hook = (name: string) =>
  ({ channel: "webhook", config: { url: `${receiver.origin}/${name}` } }) as const;

/** How often a finding must be told: `most` and `least` times. */
type Rule = { least: number; most: number };
const once: Rule = { least: 1, most: 1 };
const atMostOnce: Rule = { least: 0, most: 1 };

class History {
  readonly #chance: Chance;
  readonly #faulty: Workers;
  readonly #late: { round: number; act: () => Promise<unknown> }[] = [];
  readonly scanIds: number[] = [];
  readonly #ids = new Map<string, number>();
  #breached: Record<number, string[]> = {};
  #org = 0;

  constructor(chance: Chance, faulty: Workers) {
    this.#chance = chance;
    this.#faulty = faulty;
  }

  idOf(name: string): number {
    return this.#ids.get(name) ?? 0;
  }

  async prepare(): Promise<number> {
    // Each address is in a block of its own, so that look-ups are of many messages.
    this.#org = await createOrganization({ [domain]: people / 2, [single]: people / 2 }, 1);
    workers.accounts = {};
    if (this.#chance.draw("first") < 0.5) {
      await startAndPlan(this.#org);
      await runLookUps();
    }
    await describeBreach("Secret", { isSensitive: true });
    const add = async (
      name: string,
      ...given: Parameters<typeof createChannel> extends [number, ...infer R] ? R : never
    ) => this.#ids.set(name, await createChannel(this.#org, ...given));
    await add("scan", { tellOwners: true });
    await add("scan, named", { sensitive: "named" }, slack("slack"));
    await add("day", { grouping: "day" });
    await add("week", { grouping: "week" }, slack("week"));
    await add("address", { grouping: "address" });
    await add("webhook", {}, hook("webhook"));
    await add("webhook by scan", { grouping: "scan", details: true }, hook("by-scan"));
    await add("discreet webhook", { sensitive: "discreet" }, hook("discreet"));
    await add("changed");
    await add("moved", { grouping: "day" });
    await add("switched");
    await add("removed");
    return this.#org;
  }

  /** More people are in more breaches from scan to scan. */
  async scan(): Promise<void> {
    const scan = `scan ${this.scanIds.length}`;
    for (let index = 0; index < people; index++)
      for (const name of breaches)
        if (this.#chance.draw(`${scan}, ${index}, ${name}`) < 0.25)
          this.#breached[index] = [...new Set([...(this.#breached[index] ?? []), name])];
    workers.breached[domain] = this.#breached;
    for (let index = 0; index < people / 2; index++)
      workers.accounts[`user${index}@${single}`] = this.#breached[people / 2 + index] ?? [];
    this.scanIds.push(await start(this.#org, "manual", administrator));
  }

  /** What the queues give: some messages never, some twice, some later. */
  #given<M>(
    messages: readonly M[],
    name: keyof typeof latest,
    round: number,
    act: (message: M) => Promise<unknown>,
  ): void {
    for (const [index, message] of messages.entries()) {
      const which = `round ${round}, ${name} ${index}`;
      if (this.#faulty.strikes("message: lost", which, rates.message)) continue;
      const copies = this.#faulty.strikes("message: twice", which, rates.message) ? 2 : 1;
      for (let copy = 0; copy < copies; copy++) {
        const later = Math.floor(this.#chance.draw(`${which}, ${copy}, late`) * (latest[name] + 1));
        this.#late.push({ round: round + later, act: () => act(message) });
      }
    }
  }

  async round(round: number): Promise<void> {
    this.#given(await takeMessages("scan-plans"), "plan", round, (each) => plan(each, invocation()));
    this.#given(await takeMessages("scan-checks"), "check", round, (each) => check(each, invocation()));
    this.#given(await takeMessages("scan-lookups"), "look-up", round, (each) => lookUp(each, invocation()));
    this.#given(await takeMessages("outbox"), "outbox", round, (each) =>
      work(each, invocation(), outboxSettings),
    );
    const open = [...(await takeMessages("deliveries")), ...(await takeMessages("delivery-retries"))];
    this.#given(open, "delivery", round, (each) => deliverOne(each, settings));
    const due = this.#late.filter((each) => each.round <= round);
    for (const each of due) this.#late.splice(this.#late.indexOf(each), 1);
    const acts = [
      () => forEachDue("SCAN", new Date(), invocation(), (key) => sweepScan(key, sweepOf(Date.now()))),
      () => wakeDue(invocation()),
      () => redispatch(invocation()),
      ...this.#changes(round),
      ...due.map(({ act }) => act),
    ];
    await Promise.all(acts.map((act, index) => this.#faulty.run(`round ${round}, worker ${index}`, act)));
  }

  /** What people and the catalog change meanwhile. */
  #changes(round: number): (() => Promise<unknown>)[] {
    const org = this.#org;
    const draws = (name: string, rate: number): boolean =>
      this.#chance.draw(`round ${round}, ${name}`) < rate;
    const pick = <T>(name: string, choices: readonly T[]): T =>
      this.#chance.pick(choices, `round ${round}, ${name}`);
    const acts: (() => Promise<unknown>)[] = [];
    const change = (name: string, options: Partial<AlertOptions>) =>
      acts.push(async () => {
        const channel = await channels.get(org, this.idOf(name));
        if (channel)
          await setOptions(org, channel.id, { ...channels.optionsOf(channel), ...options }, administrator);
      });
    if (draws("change", 0.3))
      change("changed", {
        grouping: pick("grouping", ["scan", "address", "day", "week"]),
        sensitive: pick("sensitive", ["named", "discreet"]),
      });
    if (draws("switch", 0.2)) {
      const isEnabled = pick("switched", [true, false]);
      acts.push(() =>
        configure.change(org, this.idOf("switched"), { isEnabled }, administrator, async () => {}),
      );
    }
    if (round === 12)
      acts.push(() =>
        configure.change(org, this.idOf("moved"), hook("moved"), administrator, async () => {}),
      );
    if (round === 15) acts.push(() => remove(org, this.idOf("removed"), administrator).catch(() => {}));
    if (draws("rise", 0.05)) {
      const risen = { breachId: 1, from: 1, level: 4, people: 3, reopened: 0 };
      acts.push(() => table.transact([severityRisen(org, risen)]));
    }
    return acts;
  }
}

/** Everything is told, and no scan has to be repeated. */
const isSettled = async (org: number, scanId: number): Promise<boolean> => {
  const { status } = await readScan(org, scanId);
  if (status !== "completed" && status !== "failed") return false;
  return (await table.query({ pk: keys.outbox(org, "").pk })).length === 0;
};

describe("a channel's messages", () => {
  test.each(seeds)(
    "come once in a random history of crashes (MODEL_SEED=%s)",
    async (seed) => {
      const chance = new Chance(seed);
      const faulty = new Workers(chance, rates.request);
      const history = new History(chance, faulty);
      const org = await history.prepare();
      const secret = (await catalog.idsFor(["Secret"])).get("Secret");
      await history.scan();
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
      const restore = faulty.intercept();
      let rounds = 0;
      try {
        for (let isOver = false; !isOver && rounds < maximumRounds; rounds++) {
          await history.round(rounds);
          vi.setSystemTime(Date.now() + (10 + 80 * chance.draw(`round ${rounds}, time`)) * 1_000);
          if (!(await isSettled(org, history.scanIds.at(-1) ?? 0))) continue;
          const { failedEmails } = await readScan(org, history.scanIds.at(-1) ?? 0);
          // The sweep gives up a scan whose workers die again and again, and the next one finds the rest.
          if (history.scanIds.length < scansOfHistory || failedEmails !== 0) await history.scan();
          else isOver = true;
        }
        // Messages that gather for a week go out. A channel that has become a webhook gets events, which
        // leave the outbox.
        for (const _ of [1, 2, 3]) {
          vi.setSystemTime(Date.now() + 8 * 86_400_000);
          for (let more = 0; more < 6; more++) {
            await history.round(++rounds);
            vi.setSystemTime(Date.now() + 90_000);
          }
        }
        for (; !(await isSettled(org, history.scanIds.at(-1) ?? 0)); vi.setSystemTime(Date.now() + 90_000))
          await history.round(++rounds);
      } finally {
        restore();
        vi.useRealTimers();
      }

      const found = await findingsOf(org);
      expect(found.length).toBeGreaterThan(people);
      const expectTold = async (name: string, ruleOf: (breachId: number) => Rule): Promise<void> => {
        const times = await timesTold(org, history.idOf(name));
        const wrong = found.filter(({ id, breachId }) => {
          const { least, most } = ruleOf(breachId);
          const told = times.get(id) ?? 0;
          return told < least || told > most;
        });
        expect([name, wrong.map(({ id }) => [id, times.get(id)])]).toEqual([name, []]);
      };
      const complete = ["scan", "scan, named", "day", "week", "address", "webhook", "webhook by scan"];
      for (const name of [...complete, "changed", "moved"]) await expectTold(name, () => once);
      await expectTold("discreet webhook", (breachId) =>
        breachId === secret ? { least: 0, most: 0 } : once,
      );
      await expectTold("switched", () => atMostOnce);
      expect(await channels.get(org, history.idOf("removed"))).toBeUndefined();

      const all = await rowsOf(org, deliveries);
      const owners = all.flatMap(({ event }) => (event.type === "owner" ? event.email.findingIds : []));
      expect(new Set(owners).size).toBe(owners.length);
      for (const name of ["scan", "scan, named", "changed", "switched"]) {
        const ofChannel = (await deliveriesOf(org, history.idOf(name))).filter(
          ({ event }) => event.type === "gathered",
        );
        for (const scanId of history.scanIds)
          expect(ofChannel.filter(({ event }) => event.scanId === scanId).length).toBeLessThanOrEqual(2);
      }
      const first = all.filter(({ event }) => event.type === "gathered" && event.only).length;
      console.log(
        `MODEL_SEED=${seed}: ${found.length} findings, ${history.scanIds.length} scans, ` +
          `${all.length} deliveries, ${first} first messages, ${rounds} rounds`,
        faulty.counts,
      );
      expect((await audit(org)).differences).toEqual([]);
      const kinds = [
        ...faultKinds.filter((kind) => kind.startsWith("write")),
        "message: lost",
        "message: twice",
      ];
      expect(kinds.filter((kind) => faulty.counts[kind] === undefined)).toEqual([]);
    },
    600_000,
  );
});
