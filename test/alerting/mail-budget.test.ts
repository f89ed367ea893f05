/** How many copies of alerts an organization can send to people who never asked. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { redeliver, sendTest } from "../../shared/alerting/attempts/by-hand.ts";
import type { Channel } from "../../shared/alerting/channels/channel.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { type AlertEvent, deliveries, waitsForOf } from "../../shared/alerting/deliveries/delivery.ts";
import { defaultMailBudget, takeCopies } from "../../shared/alerting/kinds/email/mail-budget.ts";
import type { Message } from "../../shared/contract/messages.ts";
import { createOrganization, runOutbox, takeMessages, useWorkers } from "../scanning/in-process-workers.ts";

import { deliveriesOf } from "./breached-people.ts";
import { createChannel, raiseTo, webhook } from "./channels.ts";
import { attempt, attemptOf, mails, raiseFor, statusesOf, useMailServer } from "./mail-deliveries.ts";

useWorkers();
useMailServer();
// No hour ends meanwhile.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2030-01-01T10:10:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});
const nextHour = Date.parse("2030-01-01T11:00:00Z");

const single: AlertEvent = { type: "breach", breachIds: [1], email: { id: 1, findingIds: [1] } };
const error: AlertEvent = { type: "scan_error", error: "Measured" };

test("an address in two channels gets a copy from each", async () => {
  const org = await createOrganization({});
  const messages = await raiseFor(org, [["a@other.example"], ["A@other.example", "b@other.example"]]);
  for (const message of messages) await attempt(message);
  expect(mails.received.toSorted()).toEqual(["A@other.example", "a@other.example", "b@other.example"]);
  expect(await statusesOf(org, messages)).toEqual(["delivered after 1", "delivered after 1"]);
});

test("a delivery with several messages at once leads to one copy, also in the budget", async () => {
  const org = await createOrganization({});
  const mailBudget = { hour: 6, day: 6 };
  await organizations.set(org, { mailBudget });
  const [message] = await raiseFor(org, [["a@other.example"]]);
  await Promise.all([attempt(message), attempt(message), attempt(message)]);
  expect(mails.received).toEqual(["a@other.example"]);
  expect(await takeCopies(org, 2, mailBudget, new Date(), { isCaused: true })).toBeUndefined();
  expect(await takeCopies(org, 3, mailBudget, new Date(), { isUrgent: true })).toBeUndefined();
});

test("an alert that is delivered again by hand reaches its recipients again", async () => {
  const org = await createOrganization({});
  const [first] = await raiseFor(org, [["a@other.example"]]);
  await attempt(first);
  await redeliver(org, first.channelId, first.deliveryId);
  const [again] = await takeMessages("deliveries");
  await attempt(again ?? first);
  expect(mails.received).toEqual(["a@other.example", "a@other.example"]);
});

test("what is over the budget of an hour waits for the next, without using an attempt", async () => {
  const org = await createOrganization({});
  await organizations.set(org, { mailBudget: { hour: 120, day: 1_000 } });
  const messages = await raiseFor(
    org,
    Array.from({ length: 5 }, (_, channel) =>
      Array.from({ length: 20 }, (_, index) => `stranger${channel}-${index}@other.example`),
    ),
  );
  for (const message of messages) await attempt(message);
  expect(mails.received).toHaveLength(60);
  const statuses = await statusesOf(org, messages);
  expect(statuses.filter((each) => each === "delivered after 1")).toHaveLength(3);
  expect(statuses.filter((each) => each === "pending after 0")).toHaveLength(2);
  const waiting = await deliveries.get(org, messages.at(-1)?.deliveryId ?? 0);
  expect(Date.parse(waiting?.dueAt ?? "")).toBeGreaterThanOrEqual(nextHour);
  expect(Date.parse(waiting?.dueAt ?? "")).toBeLessThanOrEqual(nextHour + 300_000);
});

test.each([
  ["an hour", { hour: 20, day: 1_000 }],
  ["a day", { hour: 1_000, day: 20 }],
])("messages about single addresses leave three tenths of %s to others", async (_, mailBudget) => {
  const org = await createOrganization({});
  await organizations.set(org, { mailBudget });
  expect(await takeCopies(org, 14, mailBudget, new Date())).toBeUndefined();
  const messages = await raiseTo(org, await createChannel(org), [single, error]);
  for (const message of messages) await attempt(message);
  expect(mails.subjects).toEqual([expect.stringMatching(/^Measured/)]);
  const [waiting] = await deliveries.getMany(
    org,
    messages.map(({ deliveryId }) => deliveryId),
  );
  expect(waiting && waitsForOf(waiting, new Date())?.reason).toBe("budget of e-mails is used up");
});

test.each([
  ["the budget holds a channel up", { hour: 0, day: 0 }, "budget of e-mails is used up"],
  ["SES sends nothing", defaultMailBudget, "e-mail sending is paused"],
])("others are told to ask the operator when %s", async (_, mailBudget, why) => {
  const org = await createOrganization({});
  await organizations.set(org, { mailBudget });
  mails.answer = (_request, response) =>
    response.writeHead(400, { "x-amzn-errortype": "SendingPausedException" }).end("{}");
  const channelId = await createChannel(org);
  const otherId = await createChannel(org, {}, webhook, { notifyOnScanError: true });
  await raiseTo(org, channelId, [error]);
  for (const now of [Date.now(), nextHour + 86_400_000]) {
    vi.setSystemTime(now);
    for (const row of await deliveriesOf(org, channelId)) await attemptOf(org, row);
  }
  await runOutbox();
  expect(await deliveriesOf(org, otherId)).toMatchObject([
    { event: { error: expect.stringContaining(`: ${why}. Ask whoever operates this service.`) } },
  ]);
  await takeMessages("delivery-retries");
});

test("messages about single addresses wait first, critical and high ones last", async () => {
  const budget = { hour: 100, day: 100 };
  const rank = async (purpose: Parameters<typeof takeCopies>[4]): Promise<number> => {
    const org = await createOrganization({});
    let copies = 0;
    const take = async () => takeCopies(org, 5, budget, new Date(), purpose);
    while ((await take()) === undefined) copies += 5;
    return copies;
  };
  expect(await rank({ isForOwner: true, isSingle: true })).toBe(50);
  expect(await rank({ isCaused: true })).toBe(50);
  expect(await rank({ isSingle: true })).toBe(70);
  expect(await rank({})).toBe(80);
  expect(await rank({ isUrgent: true, isSingle: true })).toBe(90);
  expect(await rank({ isUrgent: true })).toBe(100);
});

test("a message about a single address goes out with a budget of one", async () => {
  const org = await createOrganization({});
  await organizations.set(org, { mailBudget: { hour: 1, day: 1 } });
  const messages = await raiseTo(org, await createChannel(org), [single, single]);
  for (const message of messages) await attempt(message);
  expect(await statusesOf(org, messages)).toEqual(["delivered after 1", "pending after 0"]);
});

test("a message larger than its share goes first in its hour, others in the next", async () => {
  const org = await createOrganization({});
  await organizations.set(org, { mailBudget: { hour: 10, day: 1_000 } });
  const recipients = Array.from({ length: 20 }, (_, index) => `a${index}@other.example`);
  const channelId = await createChannel(org, {}, { channel: "email", config: { recipients } });
  const all = await raiseTo(org, channelId, [single, error, single]);
  for (const message of all) await attempt(message);
  expect(await statusesOf(org, all)).toEqual(["delivered after 1", "pending after 0", "pending after 0"]);
  vi.setSystemTime(nextHour);
  const dueAt = async (index: number) =>
    Date.parse((await deliveries.get(org, all[index]?.deliveryId ?? 0))?.dueAt ?? "");
  expect(await dueAt(1)).toBeLessThanOrEqual(nextHour);
  expect(await dueAt(2)).toBeGreaterThan(nextHour);
  for (const message of all.slice(1)) await attempt(message);
  expect(await statusesOf(org, all)).toEqual(["delivered after 1", "delivered after 1", "pending after 0"]);
});

test.each([
  ["an hour", { hour: 50, day: 1_000 }],
  ["a day", { hour: 1_000, day: 50 }],
])("tests, notices and what is sent again take half of %s at most", async (_, mailBudget) => {
  const org = await createOrganization({});
  await organizations.set(org, { mailBudget });
  const recipients = Array.from({ length: 10 }, (_, index) => `a${index}@other.example`);
  const channelId = await createChannel(org, {}, { channel: "email", config: { recipients } });
  const channel = (await channels.get(org, channelId)) as Channel;
  const sendAll = async () => {
    const messages = await takeMessages("deliveries");
    // Organizations of other tests have left notices of their new channels.
    for (const message of messages.filter(({ organizationId }) => organizationId === org))
      await attempt(message);
  };
  const [found] = await raiseTo(org, channelId, [single]);
  await attempt(found as Message<"deliveries">);
  await redeliver(org, channelId, found?.deliveryId ?? 0);
  await sendAll();
  for (let sent = 0; sent < 5; sent++) await sendTest(org, channel);
  await sendAll();
  // The alert, its repetition, and one test.
  expect(mails.received).toHaveLength(30);
  expect(await takeCopies(org, 10, mailBudget, new Date())).toBeUndefined();
});

test.each([
  ["was too busy to take", "throttled", 0],
  ["refused", "refused", 1],
] as const)("copies that SES %s do not count against the budget", async (_, how, failed) => {
  const org = await createOrganization({});
  const mailBudget = { hour: 8, day: 8 };
  await organizations.set(org, { mailBudget });
  const people = ["a", "b", "c"].map((name) => `${name}@other.example`);
  const [message] = await raiseFor(org, [people]);
  mails[how] = (address) => address !== "a@other.example";
  await attempt(message);
  expect(mails.received).toEqual(["a@other.example"]);
  expect(await statusesOf(org, [message])).toEqual([`retrying after ${failed}`]);
  mails[how] = () => false;
  await attempt({ ...message, attempt: failed + 1 });
  expect(mails.received.toSorted()).toEqual(people);
  const take = () => takeCopies(org, 1, mailBudget, new Date(), { isCaused: true });
  expect(await take()).toBeUndefined();
  expect(await take()).toBeDefined();
  await takeMessages("delivery-retries");
});

test("a budget counts hours and days, and concurrent copies exactly", async () => {
  const org = await createOrganization({});
  const at = (time: string) => new Date(`2026-03-01T${time}Z`);
  const budget = { hour: 10, day: 15 };
  const results = await Promise.all(
    Array.from({ length: 20 }, () => takeCopies(org, 1, budget, at("10:59:00"), { isUrgent: true })),
  );
  expect(results.filter((each) => each === undefined)).toHaveLength(10);
  expect(results.find((each) => each !== undefined)).toEqual(at("11:00:00"));
  for (let count = 0; count < 5; count++) {
    expect(await takeCopies(org, 1, budget, at("11:00:00"), { isUrgent: true })).toBeUndefined();
  }
  expect(await takeCopies(org, 10, budget, at("12:00:00"), { isUrgent: true })).toEqual(
    new Date("2026-03-02T00:00:00Z"),
  );
  // What waits for the next day took nothing out of the hour.
  expect(
    await takeCopies(org, 10, { hour: 10, day: 25 }, at("12:01:00"), { isUrgent: true }),
  ).toBeUndefined();
  expect(
    await takeCopies(org, 1, budget, new Date("2026-03-02T00:00:00Z"), { isUrgent: true }),
  ).toBeUndefined();
});
