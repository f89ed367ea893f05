import { expect, test } from "vitest";
import type { SubscribedDomain } from "../../shared/hibp/hibp.ts";
import { noticesFor, planNotices } from "../../shared/hibp/plan-notices.ts";

const now = new Date("2026-11-01T00:00:00.000Z");
const inDays = (days: number): string => new Date(now.getTime() + days * 24 * 3_600_000).toISOString();

const listed = (name: string, pwnCountWithoutSpam: number, pwnCountAtRenewal = 0): SubscribedDomain => ({
  name,
  pwnCount: pwnCountWithoutSpam,
  pwnCountWithoutSpam,
  pwnCountAtRenewal,
  nextRenewal: null,
});

const idsOf = (
  status: Parameters<typeof planNotices>[0],
  domains: readonly SubscribedDomain[] = [],
  hasSeveral = false,
): string[] => planNotices(status, domains, hasSeveral, now).map(({ id }) => id);

test.each([
  [31, []],
  [30, [`ends-30-${inDays(30)}`]],
  [7.5, [`ends-30-${inDays(7.5)}`]],
  [7, [`ends-7-${inDays(7)}`]],
  [-1, []],
])("a plan that ends in %s days", (days, ids) => {
  expect(idsOf({ subscribedUntil: inDays(days) })).toEqual(ids);
});

test("a domain within 10 % of what the plan searches, now or at the last renewal", () => {
  const domains = [listed("small.example", 89), listed("near.example", 90), listed("was.example", 5, 120)];
  expect(idsOf({ maxBreachedAccounts: 100 }, domains)).toEqual(["size-was.example", "size-near.example"]);
  expect(idsOf({ maxBreachedAccounts: null }, domains)).toEqual([]);
});

test("the largest 200 of 10,000 domains that are nearly too large", () => {
  const domains = Array.from({ length: 10_000 }, (_, at) => listed(`${at}.${"d".repeat(60)}.example`, at));
  const notices = planNotices({ maxBreachedAccounts: 25 }, domains, false, now);
  expect(notices.map(({ id }) => id)).toHaveLength(200);
  expect(notices[0]?.id).toMatch(/^size-9999\./);
});

test("as many breached domains as 90 % of what the plan has", () => {
  const breached = Array.from({ length: 9 }, (_, index) => listed(`d${index}.example`, 1));
  expect(idsOf({ maxDomains: 10 }, breached)).toEqual(["domains-10"]);
  expect(idsOf({ maxDomains: 10 }, [...breached.slice(1), listed("none.example", 0)])).toEqual([]);
});

test("a second organization, where the plan has no domains of customers", () => {
  expect(idsOf({ includesCustomerDomains: false }, [], true)).toEqual(["customer-domains"]);
  expect(idsOf({ includesCustomerDomains: false }, [], false)).toEqual([]);
  expect(idsOf({ includesCustomerDomains: true }, [], true)).toEqual([]);
});

test("an organization gets what is about the plan and its own verified domains", () => {
  const notices = planNotices(
    { maxBreachedAccounts: 10, subscribedUntil: inDays(3) },
    [listed("ours.example", 10), listed("theirs.example", 10)],
    false,
    now,
  );
  const ours = noticesFor(notices, [
    { name: "ours.example", verified: true, lostSearch: "too_large" },
    { name: "theirs.example", verified: false, lostSearch: "too_large" },
  ]);
  expect(ours.map(({ id }) => id)).toEqual([
    `ends-7-${inDays(3)}`,
    "size-ours.example",
    "lost-ours.example-too_large",
  ]);
  expect(ours.at(-1)?.text).toBe(
    "Have I Been Pwned does not search ours.example any more: too large for the plan, or more " +
      "domains than the plan has. Its addresses are looked up one by one, without sensitive " +
      "breaches.",
  );
});
