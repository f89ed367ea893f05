/** Which messages about new breaches a scan makes, and that each finding is in exactly one message of a channel. */
import { describe, expect, onTestFinished, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import { setOptions } from "../../shared/alerting/channels/options.ts";
import { redeliver } from "../../shared/alerting/deliveries/by-hand.ts";
import { deliveries, waitsForOf } from "../../shared/alerting/deliveries/delivery.ts";
import { endOfWindow } from "../../shared/alerting/gathering/gathered.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import { withTimeOf } from "../../shared/aws/table/patience.ts";
import * as table from "../../shared/aws/table/table.ts";
import { lookUpStepSeconds } from "../../shared/contract/scan-timing.ts";
import { remove as removeEmail } from "../../shared/findings/email-removal.ts";
import { findings } from "../../shared/findings/record.ts";
import { blockSize, reserve } from "../../shared/lists/blocks.ts";
import { emails } from "../../shared/monitoring/emails/record.ts";
import { breachOf } from "../../shared/monitoring/hibp/breach.ts";
import * as catalog from "../../shared/monitoring/hibp/catalog.ts";
import { severityAt } from "../../shared/monitoring/hibp/severity.ts";
import { audit } from "../../shared/operations/audit/audit.ts";
import { end } from "../../shared/scanning/end.ts";
import { lookUp } from "../../shared/scanning/look-up.ts";
import { addFindings } from "../findings/acknowledgements/findings.ts";
import {
  createOrganization,
  invocation,
  lookUpCount,
  onTableRequest,
  readScan,
  runChecks,
  runLookUps,
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
import { createChannel, defaults, raiseTo, webhook } from "./channels.ts";
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
 * An organization whose addresses are looked up one by one, and from now on are in a breach. Each is in a block of its own, so that a scan has a
 * message for each.
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

describe("one message for a scan", () => {
  test("up to four people are told one by one while it runs", async () => {
    const org = await organizationOf(10);
    const channelId = await createChannel(org);
    workers.breached[domain] = inBreaches(4, "Alpha", "Beta");
    await startAndPlan(org);
    // The scan's end would be after this: the messages are out once the findings are written.
    const ending = onTableRequest('"HEAD#ACTIVITY"', "before", sendAll);
    await runChecks();
    expect(ending.happened).toBe(true);
    expect(mails.subjects).toEqual(Array(4).fill(expect.stringMatching(/^Low: .+ of 1 person at Test$/)));
    const addresses = mails.texts.map((text) => /user\d@acme\.example/.exec(text)?.[0]);
    expect(addresses.toSorted()).toEqual([0, 1, 2, 3].map((index) => `user${index}@${domain}`));
    await expectEachToldOnce(org, channelId);
  });

  test("of addresses that are looked up one by one, the first are told after a step", async () => {
    const org = await createOrganization({ [single]: 30 });
    workers.accounts = {};
    await startAndPlan(org);
    await runLookUps();
    const channelId = await createChannel(org);
    for (let index = 0; index < 30; index++) workers.accounts[`user${index}@${single}`] = ["Alpha"];
    await startAndPlan(org);
    // A worker that has time for one step.
    await runLookUps(lookUpStepSeconds - 1);
    await sendAll();
    expect(mails.subjects).toHaveLength(4);
    expect(lookUpCount(workers)).toBe(30 + 25);
    await runLookUps();
    await sendAll();
    expect(mails.subjects).toHaveLength(5);
    expect(mails.texts[4]).toContain("New in all, with those told before: 30 findings of 30 people.");
    await expectEachToldOnce(org, channelId);
  });

  test("the last of five messages groups all other people and says the totals", async () => {
    const org = await organizationOf(30);
    const channelId = await createChannel(org, { sensitive: "named" });
    await scan(org, {}); // so that ids of scans differ
    const scanId = await scan(org, { ...inBreaches(25, "Alpha"), 29: ["Beta"], 28: ["Alpha", "Beta"] });
    await sendAll();
    expect(mails.subjects).toHaveLength(5);
    const last = mails.texts.at(-1) ?? "";
    expect(last).toContain("New in all, with those told before: 28 findings of 27 people.");
    expect(last).toContain(`/findings?scanId=${scanId}`);
    expect(last).toMatch(/Alpha · low · 2\d people/);
    expect(new Set(last.match(/user\d+@acme\.example/g)).size).toBe(10);
    await expectEachToldOnce(org, channelId);
  });

  test("holds for workers that record at once", async () => {
    const org = await lookedUp(8);
    const channelId = await createChannel(org);
    await startAndPlan(org);
    const messages = await takeMessages("scan-lookups");
    expect(messages).toHaveLength(8);
    await withTimeOf(300_000, () => Promise.all(messages.map((message) => lookUp(message, invocation()))));
    expect(await deliveriesOf(org, channelId)).toHaveLength(5);
    await expectEachToldOnce(org, channelId);
  });

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
    const event = { type: "gathered" as const, scanId, told: [] };
    for (const message of await raiseTo(org, channelId, [event], new Set([scanId]))) await attempt(message);
    expect(mails.texts[0]).toContain("New in all: 140 findings of at least 128 people.");
    expect(mails.texts[0]).toContain("Alpha · high · at least 128 people");
    expect(mails.texts[0]).toContain("and at least 118 more");
  });

  test("webhooks and the grouping address get an event for each, of a first scan too", async () => {
    const org = await organizationOf(10, { first: true });
    const single = await createChannel(org, { grouping: "address" });
    const hook = await createChannel(org, {}, webhook);
    await scan(org, inBreaches(9, "Alpha"));
    for (const id of [single, hook]) {
      expect(await deliveriesOf(org, id)).toHaveLength(9);
      await expectEachToldOnce(org, id);
    }
  });

  test("another grouping, set while a scan runs, tells nothing twice and forgets nothing", async () => {
    for (const [before, after] of [
      ["scan", "address"],
      ["address", "scan"],
    ] as const) {
      const org = await lookedUp(8);
      const channelId = await createChannel(org, { grouping: before });
      await startAndPlan(org);
      const [first, ...rest] = await takeMessages("scan-lookups");
      expect(rest.length).toBeGreaterThan(0);
      if (first !== undefined) await lookUp(first, invocation());
      await setOptions(org, channelId, { ...defaults, grouping: after }, administrator);
      for (const message of rest) await lookUp(message, invocation());
      await expectEachToldOnce(org, channelId);
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
    await end(org, scanId, invocation());
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

  test("with up to five people makes a message for each, in all of 20 channels", async () => {
    const org = await organizationOf(20, { first: true });
    const all: number[] = [];
    for (let count = 0; count < 20; count++) all.push(await createChannel(org));
    await scan(org, inBreaches(5, "Alpha"));
    for (const message of await takeMessages("deliveries")) await attempt(message);
    expect(mails.subjects).toEqual([]);
    expect(await eventsOf(org)).toEqual(all.flatMap((id) => Array(5).fill(`${id} breach`)).toSorted());
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
    for (const id of some) {
      const told = [...(await timesTold(org, id))].filter(([, times]) => times > 0);
      expect(told.map(([finding]) => levels.get(finding))).toEqual(["high"]);
    }
  });
});

describe("gathering for a day or a week", () => {
  test("ends at 07:00 UTC, for a week on Mondays", () => {
    const at = (time: string) => new Date(`2026-03-${time}Z`);
    expect(endOfWindow("day", at("03T06:59:59.999"))).toEqual(at("03T07:00:00.000"));
    expect(endOfWindow("day", at("03T07:00:00.000"))).toEqual(at("04T07:00:00.000"));
    expect(endOfWindow("week", at("03T08:00:00.000"))).toEqual(at("09T07:00:00.000"));
    expect(endOfWindow("week", at("09T06:00:00.000"))).toEqual(at("09T07:00:00.000"));
    expect(endOfWindow("week", at("09T07:00:00.000"))).toEqual(at("16T07:00:00.000"));
  });

  test("in all of 20 channels holds up no scan, whatever else its end tells", async () => {
    const org = await lookedUp(8);
    const everything = { notifyOnScanComplete: true, notifyOnScanError: true };
    const all: number[] = [];
    for (let count = 0; count < 20; count++)
      all.push(await createChannel(org, { grouping: "day" }, undefined, everything));
    const scanId = await startAndPlan(org);
    const [first] = await takeMessages("scan-lookups");
    if (first !== undefined) await lookUp(first, invocation());
    await table.update(keys.subscription(), { set: { notices: [{ id: "ends", text: "The plan ends." }] } });
    onTestFinished(() => table.update(keys.subscription(), { remove: ["notices"] }));
    await end(org, scanId, invocation());
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

  /** Makes the attempts of the webhook; those of single events stay open. */
  const tell = async (org: number, channelId: number): Promise<void> => {
    for (const row of await deliveriesOf(org, channelId))
      if (row.event.type === "gathered") await attemptOf(org, row);
    for (const message of await takeMessages("delivery-retries"))
      if ((await deliveries.get(org, message.deliveryId))?.event.type === "gathered") await attempt(message);
  };

  test.each([
    ["while it gathers for a week", "week"],
    ["before the last message of a scan is sent", "scan"],
  ] as const)("%s gets an event for each address", async (_, grouping) => {
    const org = await organizationOf(60);
    await catalog.idsFor(["Secret", "Alpha"]);
    await describeBreach("Secret", { isSensitive: true });
    const channelId = await createChannel(org, { grouping });
    // More than a transaction takes, besides those that went out before.
    await scan(org, { ...inBreaches(55, "Alpha"), 50: ["Alpha", "Secret"] });
    await becomeWebhook(org, channelId);
    await tell(org, channelId);
    await tell(org, channelId);
    const rows = await deliveriesOf(org, channelId);
    expect(rows.map(({ event }) => event.type)).toEqual(Array(55).fill("breach"));
    await expectEachToldOnce(org, channelId);
  });

  test("while a scan runs, grouped by week, gets its events", async () => {
    const org = await lookedUp(8);
    const channelId = await createChannel(org, { grouping: "week" });
    await startAndPlan(org);
    const [first, ...rest] = await takeMessages("scan-lookups");
    expect(rest.length).toBeGreaterThan(0);
    if (first !== undefined) await lookUp(first, invocation());
    await becomeWebhook(org, channelId);
    for (const message of rest) await lookUp(message, invocation());
    await tell(org, channelId);
    await tell(org, channelId);
    const rows = await deliveriesOf(org, channelId);
    expect(rows.map(({ event }) => event.type)).toEqual(Array(8).fill("breach"));
    await expectEachToldOnce(org, channelId);
  });

  test("and a Slack channel again meanwhile is told the rest in one message", async () => {
    const org = await organizationOf(60);
    const channelId = await createChannel(org, { grouping: "week" });
    const email = (await channels.get(org, channelId)) as channels.Channel;
    await scan(org, inBreaches(60, "Alpha"));
    await becomeWebhook(org, channelId);
    const [row] = await deliveriesOf(org, channelId);
    if (row === undefined) throw new Error("a delivery was expected");
    await attemptOf(org, row);
    await takeMessages("delivery-retries");
    await table.put({ ...keys.channel(org, channelId), ...email });
    await attemptOf(org, row);
    expect(mails.subjects).toEqual(["Low: Alpha, data of 10 people at Test"]);
    expect(await deliveriesOf(org, channelId)).toHaveLength(51);
  });
});

test("what is gathered waits while the channel is disabled, and then goes out", async () => {
  const org = await organizationOf(20);
  const channelId = await createChannel(org);
  workers.breached[domain] = inBreaches(12, "Alpha");
  await startAndPlan(org);
  // The findings are recorded and the scan has not ended.
  onTableRequest('"HEAD#ACTIVITY"', "before", async () => {
    await table.update(keys.channel(org, channelId), { set: { isEnabled: false } });
  });
  await runChecks();
  await sendAll();
  expect(mails.received).toEqual([]);
  const waiting = await deliveriesOf(org, channelId);
  expect(waiting.map((row) => waitsForOf(row, new Date())?.reason)).toEqual(
    Array(5).fill("channel was disabled"),
  );
  await table.update(keys.channel(org, channelId), { set: { isEnabled: true } });
  for (const row of waiting) await attemptOf(org, row);
  expect(mails.received).toHaveLength(5);
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
    const after = await deliveriesOf(org, channelId);
    expect(after.map(({ event }) => event.type)).toEqual(before.slice(0, -1).map(() => "breach"));
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
