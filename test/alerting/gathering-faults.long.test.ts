/**
 * Scans whose messages must reach people although workers of scans and of deliveries die before and after any write, queues lose and
 * repeat messages, receivers fail, the mail budget is small, and channels are turned off before they are sent to. What counts is what has arrived.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Receiver, startReceiver } from "../../local/harness/receiver.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import type { ChannelForm } from "../../shared/alerting/channels/channel.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import { redispatch } from "../../shared/alerting/deliveries/redispatch.ts";
import type { SlackMessage } from "../../shared/alerting/senders/slack.ts";
import { forEachDue } from "../../shared/aws/queue/due-rows.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as catalog from "../../shared/monitoring/hibp/catalog.ts";
import { check } from "../../shared/scanning/check.ts";
import { plan } from "../../shared/scanning/plan.ts";
import { start } from "../../shared/scanning/start.ts";
import { sweepScan } from "../../shared/scanning/sweep.ts";
import { invocation, readScan, takeMessages } from "../scanning/in-process-workers.ts";
import {
  describeBreach,
  domain,
  expectEachToldOnce,
  findingsOf,
  rowsOf,
  useBreachedPeople,
} from "./breached-people.ts";
import { createChannel } from "./channels.ts";
import { deliverOne } from "./deliver-one.ts";
import { Chance } from "./faults/chance.ts";
import { faultKinds, Workers } from "./faults/workers.ts";
import { mails, settings, useMailServer } from "./mail-deliveries.ts";
import { slackFaults } from "./slack-rules.ts";

/** The probability that a request breaks, and that a message is lost, comes twice, or is refused. */
const rates = { request: 0.06, message: 0.15, refused: 0.1 };
const people = 40;
const maximumRounds = 400;

/** A seed repeats the choices, while what runs at the same time may take turns in another order. */
const seeds = process.env.FAULTS_SEED?.split(",") ?? ["1", "2"];

describe("the messages of a scan, while workers die, queues lose messages, receivers fail", () => {
  const { workers, organizationOf } = useBreachedPeople();
  useMailServer();
  let faulty: Workers;
  let receiver: Receiver;
  let asked = 0;
  const refuses = (): boolean => faulty.strikes("message: refused", String(++asked), rates.refused);

  beforeAll(async () => {
    receiver = await startReceiver({
      respond: (_, response) => response.writeHead(refuses() ? 500 : 200).end(),
    });
    vi.stubEnv("OUTBOUND_ALLOWED_ORIGINS", receiver.origin);
  });
  afterAll(() => receiver.close());

  /** What the queues give: some messages never, and some twice. */
  const given = <M>(messages: readonly M[], round: string): M[] =>
    messages.flatMap((message, index) => {
      const name = `${round}, message ${index}`;
      if (faulty.strikes("message: lost", name, rates.message)) return [];
      return faulty.strikes("message: twice", name, rates.message) ? [message, message] : [message];
    });

  const runRound = async (round: string): Promise<void> => {
    const [plans, checks, firsts, retries] = [
      given(await takeMessages("scan-plans"), `${round}, plans`),
      given(await takeMessages("scan-checks"), `${round}, checks`),
      given(await takeMessages("deliveries"), `${round}, deliveries`),
      given(await takeMessages("delivery-retries"), `${round}, retries`),
    ];
    const sweep = () =>
      forEachDue("SCAN", new Date(), invocation(), (key) =>
        sweepScan(key, new Date(), invocation(), { silenceSeconds: 60 }),
      );
    const acts: (() => Promise<unknown>)[] = [
      sweep,
      () => redispatch(invocation()),
      ...plans.map((message) => () => plan(message, invocation())),
      ...checks.map((message) => () => check(message, invocation())),
      ...[...firsts, ...retries].map((message) => () => deliverOne(message, settings)),
    ];
    await Promise.all(acts.map((act, index) => faulty.run(`${round}, worker ${index}`, act)));
  };

  test.each(seeds)(
    "each finding is in exactly one message that arrives (FAULTS_SEED=%s)",
    async (seed) => {
      const chance = new Chance(seed);
      faulty = new Workers(chance, rates.request);
      asked = 0;
      receiver.requests.length = 0;
      // Blocks of two addresses make three chunks, which workers check at the same time.
      const org = await organizationOf(people, { perBlock: 2 });
      await organizations.set(org, { mailBudget: { hour: 20, day: 1_000 } });
      await describeBreach("Secret", { isSensitive: true });
      const form = (name: string): ChannelForm => ({
        channel: "email",
        config: { recipients: [`${name}@other.example`] },
      });
      const all = {
        scan: await createChannel(org, { tellOwners: true }, form("scan")),
        day: await createChannel(org, { grouping: "day" }, form("day")),
        slack: await createChannel(
          org,
          { sensitive: "named" },
          { channel: "slack", config: { webhookUrl: `${receiver.origin}/slack` } },
        ),
        webhook: await createChannel(
          org,
          {},
          { channel: "webhook", config: { url: `${receiver.origin}/webhook` } },
        ),
        // Becomes a webhook while it gathers.
        moved: await createChannel(org, { grouping: "day" }, form("moved")),
      };
      const move = () =>
        configure.change(
          org,
          all.moved,
          { channel: "webhook", config: { url: `${receiver.origin}/moved` } },
          administrator,
          async () => {},
        );
      workers.breached[domain] = Object.fromEntries(
        Array.from({ length: people }, (_, index) => [
          index,
          ["Alpha", ...(index % 2 ? ["Beta"] : []), ...(index % 5 ? [] : ["Secret"])],
        ]),
      );
      const scanIds = [await start(org, "manual", administrator)];
      const setEnabled = (isEnabled: (name: string) => boolean) =>
        Promise.all(
          Object.entries(all).map(([name, id]) =>
            table.update(keys.channel(org, id), { set: { isEnabled: isEnabled(name) } }),
          ),
        );
      const openOnes = async () => (await rowsOf(org, deliveries)).filter(({ dueAt }) => dueAt !== undefined);
      vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
      const restore = faulty.intercept();
      mails.refused = refuses;
      let rounds = 0;
      try {
        for (let isOver = false; !isOver && rounds < maximumRounds; rounds++) {
          await runRound(`round ${rounds}`);
          const { status, failedEmails } = await readScan(org, scanIds.at(-1) ?? 0);
          const open = await openOnes();
          const isScanOver = status === "completed" || status === "failed";
          if (isScanOver) await move();
          isOver = isScanOver && failedEmails === 0 && open.length === 0;
          const soon = Date.now() + 150_000;
          const dueTimes = open.map(({ dueAt = "" }) => Date.parse(dueAt) + 300_000);
          vi.setSystemTime(isScanOver && open.length > 0 ? Math.max(soon, Math.min(...dueTimes)) : soon);
          if (isScanOver && failedEmails !== 0) {
            // The sweep gives up a scan whose workers die again and again, and the next scan finds the rest.
            await setEnabled(() => true);
            scanIds.push(await start(org, "manual", administrator));
          } else if (isScanOver) await setEnabled((name) => chance.draw(`round ${rounds}, ${name}`) < 0.7);
        }
      } finally {
        restore();
        vi.useRealTimers();
      }
      // Those to owners are counted below.
      const toChannels = (await rowsOf(org, deliveries)).filter(({ event }) => event.type !== "owner");
      expect(toChannels.filter(({ status }) => status !== "delivered")).toEqual([]);

      for (const id of Object.values(all)) await expectEachToldOnce(org, id);
      const found = await findingsOf(org);
      expect(new Set(found.map(({ emailId }) => emailId)).size).toBe(people);
      const ids = await catalog.idsFor(["Alpha", "Beta", "Secret"]);
      const countOf = (name: string) => found.filter(({ breachId }) => breachId === ids.get(name)).length;
      const expected = { Alpha: countOf("Alpha"), Beta: countOf("Beta"), Secret: countOf("Secret") };
      const arrived = mails.received.map((address, index) => ({
        address,
        id: mails.deliveryIds[index],
        text: `${mails.subjects[index]}\n${mails.texts[index]}`,
      }));
      /** Each message once, however often it has arrived. */
      const textsTo = (name: string): string[] => [
        ...new Map(
          arrived
            .filter(({ address }) => address === `${name}@other.example`)
            .map(({ id, text }) => [id, text]),
        ).values(),
      ];
      const slack = [
        ...new Set(receiver.requests.filter(({ path }) => path === "/slack").map(({ body }) => String(body))),
      ];
      for (const body of slack) expect(slackFaults(JSON.parse(body))).toEqual([]);
      expect([...textsTo("scan"), ...textsTo("day")].join()).not.toContain("Secret");
      expect(toldIn(textsTo("scan"))).toEqual(expected);
      expect(textsTo("scan").length).toBeLessThanOrEqual(5 * scanIds.length);
      expect(toldIn(textsTo("day"))).toEqual(expected);
      expect(textsTo("day").length).toBeLessThanOrEqual(scanIds.length);
      expect(toldIn(slack.map(textOfSlack))).toEqual(expected);
      expect(slack.length).toBeLessThanOrEqual(5 * scanIds.length);
      const eventsAt = (hook: string) =>
        new Map(
          receiver.requests
            .filter(({ path }) => path === hook)
            .map(({ body }) => JSON.parse(String(body)))
            .map(({ id, data }) => [id as number, data.breaches.length as number]),
        );
      for (const events of [eventsAt("/webhook"), eventsAt("/moved")]) {
        expect(events.size).toBe(people);
        expect([...events.values()].reduce((sum, count) => sum + count, 0)).toBe(found.length);
      }
      expect(textsTo("moved")).toEqual([]);
      const toOwners = arrived.filter(({ address }) => address.endsWith(`@${domain}`));
      expect(new Set(toOwners.map(({ address }) => address)).size).toBe(people);
      expect(new Set(toOwners.map(({ id }) => id)).size).toBe(people);
      console.log(
        `FAULTS_SEED=${seed}: ${found.length} findings of ${people} people, ${scanIds.length} scans, ${rounds} rounds`,
        faulty.counts,
        `${textsTo("scan").length} mails, ${slack.length} Slack messages, ${eventsAt("/moved").size} events, ${toOwners.length} mails to owners`,
      );
      const ofWrites = faultKinds.filter((kind) => kind.startsWith("write"));
      const kinds = [...ofWrites, "message: lost", "message: twice", "message: refused"];
      expect(kinds.filter((kind) => faulty.counts[kind] === undefined)).toEqual([]);
    },
    600_000,
  );
});

/** How many people these messages tell of, by breach. Nobody is named in two of them. */
const toldIn = (messages: readonly string[]) => {
  const told = { Alpha: 0, Beta: 0, Secret: 0 };
  const named = messages.flatMap((text) => [...new Set(text.match(/user\d+@acme\.example/g))]);
  expect(new Set(named).size).toBe(named.length);
  for (const text of messages) {
    const items = text.matchAll(/^\* ?(Alpha|Beta|Secret) · \w+(?: · (\d+) (?:person|people))?\*?$/gm);
    for (const [, title, count = "1"] of items) told[title as keyof typeof told] += Number(count);
    told.Secret += Number(/A sensitive breach: (\d+) /.exec(text)?.[1] ?? 0);
  }
  return told;
};

const textOfSlack = (body: string): string => {
  const { blocks, attachments } = JSON.parse(body) as SlackMessage;
  return [...blocks, ...attachments.flatMap((each) => each.blocks)]
    .flatMap((block) => ("text" in block ? [block.text.text] : []))
    .join("\n");
};
