/** How many copies of alerts an organization can send to people who never asked. */
import { expect, test } from "vitest";
import * as organizations from "../../shared/access/organizations/organization.ts";
import { redeliver } from "../../shared/alerting/channels/operator.ts";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import { defaultMailBudget, giveBackCopies, takeCopies } from "../../shared/aws/mail/budget.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { createOrganization, takeMessages, useWorkers } from "../scanning/in-process-workers.ts";
import { attempt, mails, raiseFor, statusesOf, useMailServer } from "./mail-deliveries.ts";

useWorkers();
useMailServer();

test("20 channels with the same 20 recipients send 20 copies of an event", async () => {
  const org = await createOrganization({});
  const people = Array.from({ length: 20 }, (_, index) => `stranger${index}@other.example`);
  const messages = await raiseFor(
    org,
    Array.from({ length: 20 }, (_, index) => people.map((each) => (index % 2 ? each.toUpperCase() : each))),
  );
  await Promise.all(messages.map(attempt));
  // On a busy machine some give up waiting for their turn, and are attempted again.
  for (const message of messages) await attempt(message);
  expect(mails.received.map((address) => address.toLowerCase()).sort()).toEqual(people.sort());
  expect(new Set(await statusesOf(org, messages))).toEqual(new Set(["delivered after 1"]));
});

test("channels that share some recipients reach each of them once", async () => {
  const org = await createOrganization({});
  const messages = await raiseFor(org, [
    ["a@other.example", "b@other.example"],
    ["B@other.example", "c@other.example"],
  ]);
  await Promise.all(messages.map(attempt));
  const reached = mails.received.map((address) => address.toLowerCase());
  expect(reached.sort()).toEqual(["a@other.example", "b@other.example", "c@other.example"]);
});

test("a recipient whom one channel failed to reach gets a copy from the next", async () => {
  const org = await createOrganization({});
  const [first, second] = await raiseFor(org, [["a@other.example"], ["a@other.example"]]);
  if (first === undefined || second === undefined) throw new Error("two deliveries were expected");
  mails.refused = () => true;
  await attempt(first);
  mails.refused = () => false;
  await attempt(second);
  await attempt({ ...first, attempt: 2 });
  expect(mails.received).toEqual(["a@other.example"]);
  expect(await statusesOf(org, [first, second])).toEqual(["delivered after 2", "delivered after 1"]);
});

test("a delivery with two messages at once leads to one copy, also in the budget", async () => {
  const org = await createOrganization({});
  await organizations.setMailBudget(org, { hour: 2, day: 2 });
  const [first, second] = await raiseFor(org, [["a@other.example"], ["a@other.example"]]);
  if (first === undefined || second === undefined) throw new Error("two deliveries were expected");
  await Promise.all([attempt(first), attempt(first), attempt(first)]);
  await attempt(second);
  expect(mails.received).toEqual(["a@other.example"]);
  expect(await statusesOf(org, [first, second])).toEqual(["delivered after 1", "delivered after 1"]);
  expect(await takeCopies(org, 1, { hour: 2, day: 2 }, new Date())).toBeUndefined();
});

test("a worker that died in its turn delays the other channels, and no copy is lost", async () => {
  const org = await createOrganization({});
  const [first, second] = await raiseFor(org, [["a@other.example"], ["a@other.example"]]);
  if (first === undefined || second === undefined) throw new Error("two deliveries were expected");
  const turn = keys.mailCopies(org, first.deliveryId);
  const until = new Date(Date.now() + 60_000).toISOString();
  await table.put({ ...turn, holder: first.deliveryId, until });
  await attempt(second);
  expect(mails.received).toEqual([]);
  expect(await statusesOf(org, [second])).toEqual(["pending after 0"]);
  await table.update(turn, { set: { until: new Date(Date.now() - 1).toISOString() } });
  await attempt(second);
  expect(mails.received).toEqual(["a@other.example"]);
});

test("an alert that is delivered again by hand reaches its recipients again", async () => {
  const org = await createOrganization({});
  const [first] = await raiseFor(org, [["a@other.example"], ["a@other.example"]]);
  if (first === undefined) throw new Error("a delivery was expected");
  await attempt(first);
  await redeliver(org, first.channelId, first.deliveryId);
  const [again] = await takeMessages("deliveries");
  await attempt(again ?? first);
  expect(mails.received).toEqual(["a@other.example", "a@other.example"]);
});

test("what is over the budget of an hour waits for the next, without using an attempt", async () => {
  const org = await createOrganization({});
  await organizations.setMailBudget(org, { hour: 100, day: 1_000 });
  const messages = await raiseFor(
    org,
    Array.from({ length: 20 }, (_, channel) =>
      Array.from({ length: 20 }, (_, index) => `stranger${channel}-${index}@other.example`),
    ),
  );
  for (const message of messages) await attempt(message);
  expect(mails.received).toHaveLength(100);
  const statuses = await statusesOf(org, messages);
  expect(statuses.filter((each) => each === "delivered after 1")).toHaveLength(5);
  expect(statuses.filter((each) => each === "pending after 0")).toHaveLength(15);
  const waiting = await deliveries.get(org, messages.at(-1)?.deliveryId ?? 0);
  const nextHour = (Math.floor(Date.now() / 3_600_000) + 1) * 3_600_000;
  expect(Date.parse(waiting?.dueAt ?? "")).toBeGreaterThanOrEqual(nextHour - 1_000);
  expect(Date.parse(waiting?.dueAt ?? "")).toBeLessThanOrEqual(nextHour + 301_000);
});

test("copies that SES was too busy to take do not count against the budget", async () => {
  const org = await createOrganization({});
  await organizations.setMailBudget(org, { hour: 4, day: 4 });
  const people = ["a", "b", "c"].map((name) => `${name}@other.example`);
  const [message] = await raiseFor(org, [people]);
  if (message === undefined) throw new Error("a delivery was expected");
  mails.throttled = (address) => address !== "a@other.example";
  await attempt(message);
  expect(mails.received).toEqual(["a@other.example"]);
  expect(await statusesOf(org, [message])).toEqual(["retrying after 0"]);
  mails.throttled = () => false;
  await attempt(message);
  expect(mails.received.toSorted()).toEqual(people);
  expect(await takeCopies(org, 1, { hour: 4, day: 4 }, new Date())).toBeUndefined();
  expect(await takeCopies(org, 1, { hour: 4, day: 4 }, new Date())).toBeDefined();
});

test("a budget counts hours and days, and concurrent copies exactly", async () => {
  const org = await createOrganization({});
  const at = (time: string) => new Date(`2026-03-01T${time}Z`);
  const budget = { hour: 10, day: 15 };
  const results = await Promise.all(
    Array.from({ length: 20 }, () => takeCopies(org, 1, budget, at("10:59:00"))),
  );
  expect(results.filter((each) => each === undefined)).toHaveLength(10);
  expect(results.find((each) => each !== undefined)).toEqual(at("11:00:00"));
  for (let count = 0; count < 5; count++) {
    expect(await takeCopies(org, 1, budget, at("11:00:00"))).toBeUndefined();
  }
  expect(await takeCopies(org, 1, budget, at("12:00:00"))).toEqual(new Date("2026-03-02T00:00:00Z"));
  expect(await takeCopies(org, 1, budget, new Date("2026-03-02T00:00:00Z"))).toBeUndefined();
});

test("a large message goes out first in its hour; a budget of 0 stops all", async () => {
  const org = await createOrganization({});
  const now = new Date("2026-03-01T10:00:00Z");
  expect(await takeCopies(org, 20, { hour: 10, day: 10 }, now)).toBeUndefined();
  await giveBackCopies(org, 20, now);
  expect(await takeCopies(org, 20, { hour: 10, day: 10 }, now)).toBeUndefined();
  expect(await takeCopies(org, 20, { hour: 10, day: 10 }, now)).toBeDefined();
  const silent = await createOrganization({});
  expect(await takeCopies(silent, 1, { ...defaultMailBudget, hour: 0 }, now)).toBeDefined();
});
