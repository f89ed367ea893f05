/**
 * Which messages about new breaches a scan makes, and when. model.long.test.ts holds that each finding is in
 * exactly one of them.
 */
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { redeliver } from "../../shared/alerting/attempts/by-hand.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import { deliveries, waitsForOf } from "../../shared/alerting/deliveries/delivery.ts";
import { endOfWindow } from "../../shared/alerting/outbox/window.ts";
import { wakeDue } from "../../shared/alerting/outbox/work.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { remove as removeEmail } from "../../shared/findings/email-removal.ts";
import { findings } from "../../shared/findings/record.ts";
import { breachOf } from "../../shared/hibp/breach.ts";
import * as catalog from "../../shared/hibp/catalog.ts";
import { severityAt } from "../../shared/hibp/severity.ts";
import { blockSize, reserve } from "../../shared/lists/blocks.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import { lookUp } from "../../shared/scanning/look-up.ts";
import { addFindings } from "../findings/acknowledgements/findings.ts";
import {
  createOrganization,
  endEarly,
  invocation,
  readScan,
  runLookUps,
  runOutbox,
  startAndPlan,
  takeMessages,
} from "../scanning/in-process-workers.ts";
import {
  deliveriesOf,
  describeBreach,
  domain,
  expectEachToldOnce,
  findingsOf,
  inBreaches,
  rowsOf,
  timesTold,
  useBreachedPeople,
} from "./breached-people.ts";
import { createChannel, raiseTo, webhook } from "./channels.ts";
import { attempt, attemptOf, mails, sendAll, useMailServer } from "./mail-deliveries.ts";

const { workers, scan, organizationOf } = useBreachedPeople();
useMailServer();

const single = "single.example";

/** What the messages of all channels are about, with the channel's id. */
const eventsOf = async (org: number): Promise<string[]> =>
  (await rowsOf(org, deliveries))
    .map((row) => `${deliveries.groupOf(row).channelId} ${row.event.type}`)
    .toSorted();

/**
 * An organization whose addresses are looked up one by one, and from now on are in a breach. Each is in a
 * block of its own, so that a scan has a message for each.
 */
const lookedUp = async (count: number, { first = false } = {}): Promise<number> => {
  const org = await createOrganization({ [single]: count }, 1);
  workers.accounts = {};
  if (!first) {
    await startAndPlan(org);
    await runLookUps();
  }
  for (let index = 0; index < count; index++) workers.accounts[`user${index}@${single}`] = ["Alpha"];
  return org;
};

/** From now on it is so much later, until the end of the test. */
const letSecondsPass = (seconds: number): void => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1_000 });
};
afterEach(() => {
  vi.useRealTimers();
});

describe("a short scan's message", () => {
  test("names up to five people, with address and breaches", async () => {
    const org = await organizationOf(10);
    const channelId = await createChannel(org);
    await describeBreach("Omega", { title: "Omega", dataClasses: ["Passwords"] });
    await scan(org, { ...inBreaches(4, "Omega"), 2: ["Omega", "Beta"], 9: ["Beta"] });
    await sendAll();
    expect(mails.subjects).toEqual([expect.stringMatching(/^Low: Omega and 1 more, 5 people at Test$/)]);
    const [text = ""] = mails.texts;
    expect(text).toContain("New in all: 6 findings of 5 people.");
    for (const index of [0, 1, 2, 3, 9]) expect(text).toContain(`* user${index}@${domain}\n  `);
    expect(text).toMatch(/\* user2@acme\.example\n {2}Omega · low\n {2}Exposed: Passwords\n {2}Beta · low\n/);
    await expectEachToldOnce(org, channelId);
  });

  test("about a single person uses the words for a person", async () => {
    const org = await organizationOf(10);
    const channelId = await createChannel(org);
    await scan(org, { 3: ["Alpha", "Beta"] });
    await sendAll();
    expect(mails.subjects).toEqual([expect.stringMatching(/ of 1 person at Test$/)]);
    expect(mails.texts[0]).toContain(`Address: user3@${domain}`);
    const [row] = await deliveriesOf(org, channelId);
    expect(row?.headline).toMatchObject({ more: 1, people: 1 });
  });

  test("groups six or more people by breach and counts them", async () => {
    const org = await organizationOf(30);
    const channelId = await createChannel(org, { sensitive: "named" });
    const scanId = await scan(org, { ...inBreaches(25, "Gamma"), 29: ["Delta"], 28: ["Gamma", "Delta"] });
    await sendAll();
    expect(mails.subjects).toEqual(["Low: Gamma and 1 more, 27 people at Test"]);
    const [text = ""] = mails.texts;
    expect(text).toContain("New in all: 28 findings of 27 people.");
    expect(text).toContain(`/findings?scanId=${scanId}`);
    expect(text).toContain("Gamma · low · 26 people");
    expect(new Set(text.match(/user\d+@acme\.example/g)).size).toBe(10);
    await expectEachToldOnce(org, channelId);
  });
});

describe("a long scan's messages", () => {
  /**
   * Addresses that are looked up one by one: some are found now, and the others once the first message has gone out.
   */
  const lookUpIn = async (org: number, some: number): Promise<() => Promise<void>> => {
    await startAndPlan(org);
    const messages = await takeMessages("scan-lookups");
    for (const message of messages.slice(0, some)) await lookUp(message, invocation());
    await runOutbox();
    return async () => {
      for (const message of messages.slice(some)) await lookUp(message, invocation());
      await runOutbox();
      await sendAll();
    };
  };
  const becomeDue = async (seconds: number): Promise<void> => {
    letSecondsPass(seconds);
    await wakeDue(invocation());
    await runOutbox();
    await sendAll();
  };

  test("end with the totals and what is new since", async () => {
    const org = await lookedUp(9);
    const channelId = await createChannel(org);
    const goOn = await lookUpIn(org, 7);
    await becomeDue(100);
    expect(mails.subjects).toEqual([]);
    await becomeDue(200);
    expect(mails.subjects).toEqual(["Low: Alpha, data of 7 people at Test"]);
    expect(mails.texts[0]).toContain("The scan still runs. New so far: 7 findings of 7 people.");
    await goOn();
    expect(mails.subjects[1]).toBe("Low: Alpha, data of 9 people at Test");
    expect(mails.texts[1]).toContain(
      "New since the message before: 2 people, listed here. The scan found in all: 9 findings of 9 people.",
    );
    expect(mails.texts[1]?.match(/\* user\d@/g)).toHaveLength(2);
    expect(mails.subjects).toHaveLength(2);
    await expectEachToldOnce(org, channelId);
  });

  test("are one if nothing is found after the first", async () => {
    const org = await lookedUp(3);
    workers.accounts[`user2@${single}`] = [];
    const channelId = await createChannel(org);
    const goOn = await lookUpIn(org, 2);
    await becomeDue(200);
    await goOn();
    expect(mails.subjects).toEqual([expect.stringContaining("2 people at Test")]);
    expect(await deliveriesOf(org, channelId)).toHaveLength(1);
  });

  test("name nobody in a sensitive breach, which the last adds", async () => {
    const org = await lookedUp(6);
    await catalog.idsFor(["Secret"]);
    await describeBreach("Secret", { isSensitive: true });
    for (const index of [0, 1, 4]) workers.accounts[`user${index}@${single}`]?.push("Secret");
    const channelId = await createChannel(org);
    const goOn = await lookUpIn(org, 3);
    await becomeDue(200);
    await goOn();
    expect(mails.texts[0]).not.toMatch(/ensitive/);
    expect(mails.subjects[1]).toBe("Low: Alpha, data of 6 people, and a sensitive breach at Test");
    expect(mails.texts[1]).toContain("A sensitive breach: 3 people");
    expect(mails.texts[1]).not.toMatch(/user\d@|Secret/);
    await expectEachToldOnce(org, channelId);
  });

  test("do not begin before the end of a first scan", async () => {
    const org = await lookedUp(7, { first: true });
    await createChannel(org);
    const goOn = await lookUpIn(org, 5);
    await becomeDue(200);
    expect(mails.subjects).toEqual([]);
    await goOn();
    expect(mails.subjects).toEqual(["Low: the first scan found 7 people in data breaches at Test"]);
  });
});

describe("a message", () => {
  test("about more findings than are read counts people as at least as many", async () => {
    const org = await createOrganization({ [domain]: 140 });
    const channelId = await createChannel(org);
    const scanId = 4_711;
    const found = (await rowsOf(org, emails)).map(({ id }) => ({ emailId: id, breachId: 1, scanId }));
    await table.put({ ...keys.breach(1), ...breachOf({ name: "Alpha", title: "Alpha" }), id: 1 });
    // Each is in a block of its own, and 128 blocks are read.
    for (const some of chunk(found, 20)) {
      const ids = await reserve(org, "FINDING", some.length * blockSize);
      await addFindings(
        org,
        some,
        ids.filter((_, index) => index % blockSize === 0),
      );
    }
    const event = { type: "gathered" as const, scanId };
    for (const message of await raiseTo(org, channelId, [event], new Set([scanId]))) await attempt(message);
    expect(mails.texts[0]).toContain("New in all: 140 findings of at least 128 people.");
    expect(mails.texts[0]).toContain("Alpha · high · at least 128 people");
    expect(mails.texts[0]).toContain("and at least 118 more");
  });

  test("is one per person by webhook or by address, for a first scan too", async () => {
    const org = await organizationOf(10, { first: true });
    const single = await createChannel(org, { grouping: "address" });
    const hook = await createChannel(org, {}, webhook);
    await scan(org, inBreaches(9, "Alpha"));
    for (const id of [single, hook]) {
      expect(await deliveriesOf(org, id)).toHaveLength(9);
      await expectEachToldOnce(org, id);
    }
  });
});

describe("the first scan", () => {
  test("with more than five people is summed up in one message", async () => {
    const org = await organizationOf(20, { first: true });
    const scanned = await createChannel(org);
    const weekly = await createChannel(org, { grouping: "week" });
    await scan(org, inBreaches(6, "Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta"));
    await sendAll();
    for (const id of [scanned, weekly]) expect(await deliveriesOf(org, id)).toHaveLength(1);
    expect(mails.subjects).toEqual(
      Array(2).fill("Low: the first scan found 6 people in data breaches at Test"),
    );
    expect(mails.texts[0]).toContain("Checked 20 addresses: 36 findings of 6 people (36 low).");
    expect(mails.texts[0]?.match(/ · low · 6 people/g)).toHaveLength(5);
    expect(mails.texts[0]).not.toContain(`@${domain}`);
  });

  test("is summed up as checked only where it was", async () => {
    const org = await lookedUp(8, { first: true });
    await createChannel(org);
    const scanId = await startAndPlan(org);
    for (const message of (await takeMessages("scan-lookups")).slice(1)) await lookUp(message, invocation());
    await endEarly(org, scanId);
    await sendAll();
    const { scannedEmails, failedEmails } = await readScan(org, scanId);
    expect(failedEmails).toBeGreaterThan(0);
    expect(mails.texts[0]).toContain(`Checked ${scannedEmails} addresses: `);
  });

  test("is summed up without breaches below a channel's least severity", async () => {
    const org = await organizationOf(20, { first: true });
    await catalog.idsFor(["Worse", "Mild", "Secret"]);
    await describeBreach("Worse", { severity: "high" });
    await describeBreach("Mild", { severity: "low" });
    await describeBreach("Secret", { severity: "critical", isSensitive: true });
    await createChannel(org, { minSeverity: "high" });
    await createChannel(org, { minSeverity: "critical" });
    await scan(org, { ...inBreaches(6, "Worse", "Mild"), 3: ["Worse", "Secret"] });
    await sendAll();
    expect(mails.subjects.toSorted()).toEqual([
      "High: the first scan found 6 people in data breaches at Test",
      "The first scan found 1 person in a sensitive breach at Test",
    ]);
    expect(mails.texts.join()).toContain("Checked 20 addresses: 6 findings of 6 people (6 high).");
    expect(mails.texts.join()).toContain("* Worse · high · 6 people");
    expect(mails.texts.join()).not.toContain("Mild");
  });

  test("with up to five people names each, in all of 20 channels", async () => {
    const org = await organizationOf(20, { first: true });
    const all: number[] = [];
    for (let count = 0; count < 20; count++) all.push(await createChannel(org));
    await scan(org, inBreaches(5, "Alpha"));
    expect(await eventsOf(org)).toEqual(all.map((id) => `${id} gathered`).toSorted());
    await sendAll();
    expect(mails.texts.map((text) => text.match(/^\* user\d@/gm)?.length)).toEqual(Array(20).fill(5));
    for (const id of all.slice(-2)) await expectEachToldOnce(org, id);
  });
});

describe("minSeverity", () => {
  test("leaves out what is less severe, for webhooks too", async () => {
    const org = await organizationOf(10);
    await catalog.idsFor(["Worse", "Mild"]);
    await describeBreach("Worse", { severity: "high" });
    await describeBreach("Mild", { severity: "low" });
    const all = [await createChannel(org), await createChannel(org, {}, webhook)];
    const some = [
      await createChannel(org, { minSeverity: "high" }),
      await createChannel(org, { minSeverity: "high" }, webhook),
    ];
    await scan(org, { 0: ["Worse", "Mild"], 1: ["Mild"] });
    const levels = new Map(
      (await findingsOf(org)).map((row) => [row.id, severityAt(findings.groupOf(row).severity)]),
    );
    for (const id of all) await expectEachToldOnce(org, id);
    const told = [...(await timesTold(org, some[1] ?? 0))].filter(([, times]) => times > 0);
    expect(told.map(([finding]) => levels.get(finding))).toEqual(["high"]);
    await sendAll();
    expect(mails.subjects.toSorted()).toEqual([
      "High: Worse and 1 more, 2 people at Test",
      "High: Worse, data of 1 person at Test",
    ]);
  });
});

describe("a day's or week's message", () => {
  test("ends at 07:00 of a time zone, across summer time", () => {
    const end = (now: string, zone: string) => endOfWindow("day", new Date(now), zone).toISOString();
    expect(end("2026-07-01T12:00:00Z", "Europe/Berlin")).toBe("2026-07-02T05:00:00.000Z");
    expect(end("2026-01-01T12:00:00Z", "America/New_York")).toBe("2026-01-02T12:00:00.000Z");
    expect(end("2026-03-28T06:30:00Z", "Europe/Berlin")).toBe("2026-03-29T05:00:00.000Z");
    expect(end("2026-10-24T06:30:00Z", "Europe/Berlin")).toBe("2026-10-25T06:00:00.000Z");
    expect(end("2026-07-01T00:00:00Z", "Asia/Kathmandu")).toBe("2026-07-01T01:15:00.000Z");
    const week = endOfWindow("week", new Date("2026-07-05T18:00:00Z"), "Pacific/Auckland");
    expect(week.toISOString()).toBe("2026-07-05T19:00:00.000Z");
  });

  test("ends at 07:00 UTC by default, for a week on Mondays", () => {
    const at = (time: string) => new Date(`2026-03-${time}Z`);
    expect(endOfWindow("day", at("03T06:59:59.999"))).toEqual(at("03T07:00:00.000"));
    expect(endOfWindow("day", at("03T07:00:00.000"))).toEqual(at("04T07:00:00.000"));
    expect(endOfWindow("week", at("03T08:00:00.000"))).toEqual(at("09T07:00:00.000"));
    expect(endOfWindow("week", at("09T06:00:00.000"))).toEqual(at("09T07:00:00.000"));
    expect(endOfWindow("week", at("09T07:00:00.000"))).toEqual(at("16T07:00:00.000"));
  });

  test("in all of 20 channels does not hold up a scan", async () => {
    const org = await lookedUp(8);
    const all: number[] = [];
    for (let count = 0; count < 20; count++)
      all.push(await createChannel(org, { grouping: "day" }, undefined, { notifyOnScanComplete: true }));
    // From now on they would be told of new channels.
    for (const id of all)
      await configure.change(org, id, { notifyOnScanError: true }, administrator, async () => {});
    const scanId = await startAndPlan(org);
    const [first] = await takeMessages("scan-lookups");
    if (first !== undefined) await lookUp(first, invocation());
    await table.update(keys.subscription(), { set: { notices: [{ id: "ends", text: "The plan ends." }] } });
    onTestFinished(() => table.update(keys.subscription(), { remove: ["notices"] }));
    await endEarly(org, scanId);
    expect(await readScan(org, scanId)).toMatchObject({ status: "completed" });
    const told = ["gathered", "scan_complete", "scan_error", "scan_error"];
    expect(await eventsOf(org)).toEqual(all.flatMap((id) => told.map((type) => `${id} ${type}`)).toSorted());
  });

  test("several scans make one message until it is under way", async () => {
    const org = await organizationOf(10);
    const channelId = await createChannel(org, { grouping: "day" });
    await scan(org, inBreaches(3, "Alpha"));
    await scan(org, inBreaches(6, "Alpha", "Beta"));
    const [row, ...others] = await deliveriesOf(org, channelId);
    if (row === undefined) throw new Error("a delivery was expected");
    expect(others).toEqual([]);
    const until = endOfWindow("day", new Date()).toISOString();
    expect(row.dueAt).toBe(until);
    expect(waitsForOf(row, new Date())).toEqual({ reason: "gathers what else is found", until });
    expect(await takeMessages("deliveries")).toEqual([]);
    await attemptOf(org, row);
    expect(mails.texts[0]).toContain("New in all: 12 findings of 6 people.");
    await scan(org, inBreaches(7, "Alpha", "Beta"));
    expect(await deliveriesOf(org, channelId)).toHaveLength(2);
    await expectEachToldOnce(org, channelId);
  });
});

describe("a channel that becomes a webhook", () => {
  const becomeWebhook = (org: number, id: number) =>
    configure.change(org, id, webhook, administrator, async () => {});

  /** The webhook's attempts take back what was gathered, and the outbox makes events of it. */
  const tell = async (org: number, channelId: number): Promise<void> => {
    for (const row of await deliveriesOf(org, channelId))
      if (row.event.type === "gathered") await attemptOf(org, row);
    await runOutbox();
  };

  test.each([
    ["while it gathers for a week", "week"],
    ["before the last message of a scan is sent", "scan"],
  ] as const)("%s gets an event for each address", async (_, grouping) => {
    const org = await organizationOf(60);
    await catalog.idsFor(["Secret", "Alpha"]);
    await describeBreach("Secret", { isSensitive: true });
    const channelId = await createChannel(org, { grouping });
    await scan(org, { ...inBreaches(55, "Alpha"), 50: ["Alpha", "Secret"] });
    await becomeWebhook(org, channelId);
    await tell(org, channelId);
    await tell(org, channelId);
    const rows = await deliveriesOf(org, channelId);
    expect(rows.map(({ event }) => event.type)).toEqual(Array(55).fill("breach"));
    await expectEachToldOnce(org, channelId);
  });
});

test("what is gathered waits while the channel is disabled, and then goes out", async () => {
  const org = await organizationOf(20);
  const channelId = await createChannel(org);
  await scan(org, inBreaches(12, "Alpha"));
  await table.update(keys.channel(org, channelId), { set: { isEnabled: false } });
  await sendAll();
  expect(mails.received).toEqual([]);
  const waiting = await deliveriesOf(org, channelId);
  expect(waiting.map((row) => waitsForOf(row, new Date())?.reason)).toEqual(["channel was disabled"]);
  await table.update(keys.channel(org, channelId), { set: { isEnabled: true } });
  for (const row of waiting) await attemptOf(org, row);
  expect(mails.received).toHaveLength(1);
  await expectEachToldOnce(org, channelId);
});

test.each(["day", "scan"] as const)(
  "a channel that gathers for a %s and wants no new breaches any more gets none",
  async (grouping) => {
    const org = await organizationOf(20);
    const channelId = await createChannel(org, { grouping });
    await scan(org, inBreaches(12, "Alpha"));
    const before = await deliveriesOf(org, channelId);
    await configure.change(org, channelId, { notifyOnNewBreach: false }, administrator, async () => {});
    for (const row of before) if (row.event.type === "gathered") await attemptOf(org, row);
    expect(mails.received).toEqual([]);
    expect(before).toHaveLength(1);
    expect(await deliveriesOf(org, channelId)).toEqual([]);
  },
);

test("what was sent stays listed when it is sent again with nothing left to tell", async () => {
  const org = await organizationOf(6, { first: true });
  const channelId = await createChannel(org);
  await scan(org, inBreaches(6, "Alpha"));
  await sendAll();
  for (const { emailId } of await findingsOf(org)) await removeEmail(org, emailId, administrator);
  const [summary] = await deliveriesOf(org, channelId);
  await redeliver(org, channelId, summary?.id ?? 0);
  await sendAll();
  expect(await deliveriesOf(org, channelId)).toMatchObject([
    { status: "not delivered", failureReason: "nothing is left to tell", attempts: 1, failedAttempts: 0 },
  ]);
  expect(mails.received).toHaveLength(1);
  expect((await audit(org)).differences).toEqual([]);
});
