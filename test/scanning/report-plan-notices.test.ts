/** Notices about the HIBP plan, which scans tell channels that want scan errors. */
import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import * as subscription from "../../shared/hibp/subscription.ts";
import { storedSubscription } from "../../shared/hibp/subscription-state.ts";
import { end } from "../../shared/scanning/end.ts";
import { start } from "../../shared/scanning/start.ts";
import { createChannel } from "../alerting/channels.ts";
import { onTableRequest } from "../aws/table/request-points.ts";
import {
  createOrganization,
  endEarly,
  logger,
  runLookUps,
  startAndPlan,
  takeMessages,
  useWorkers,
} from "./in-process-workers.ts";

const workers = useWorkers({ breached: { "lost.example": {}, "kept.example": {} } });

/** An organization with a channel that wants scan errors and nothing else. */
const createListening = async (name: string): Promise<number> => {
  const org = await createOrganization({ [name]: 1 });
  await createChannel(org, {}, undefined, { notifyOnNewBreach: false, notifyOnScanError: true });
  return org;
};

const scanOnce = async (org: number): Promise<void> => {
  await startAndPlan(org);
  await runLookUps();
};

const reportedTo = async (org: number): Promise<string[]> => {
  const { items } = await deliveries.page(org, { limit: 100, offset: 0 });
  return items.reverse().map(({ event }) => ("error" in event ? event.error : event.type));
};

const lost = expect.stringMatching(/does not search lost.example any more: too large/);

test("that a domain lost its search is told once each time, to its organization alone", async () => {
  const [org, other] = [await createListening("lost.example"), await createListening("kept.example")];
  const scanBoth = async () => {
    await scanOnce(org);
    await scanOnce(other);
  };
  await scanBoth();
  const before = (await reportedTo(org)).length;
  const loss = async () => {
    workers.failureOf = (path) => (path === "breacheddomain/lost.example" ? 403 : undefined);
    await scanBoth();
    await scanBoth();
  };
  await loss();
  expect((await reportedTo(org)).slice(before)).toEqual([lost]);
  // A scan without an answer says nothing of the plan, and a key that is refused has none.
  workers.failureOf = (path) => (path === "breacheddomain/lost.example" ? 503 : undefined);
  await scanBoth();
  workers.failureOf = () => 401;
  await scanBoth();
  expect((await reportedTo(org)).slice(before)).toEqual([
    lost,
    ...Array(2).fill(expect.stringMatching(/^None/)),
  ]);
  workers.failureOf = () => undefined;
  await scanBoth();
  await loss();
  expect((await reportedTo(org)).slice(before + 3)).toEqual([lost]);
  expect((await reportedTo(other)).filter((text) => text.includes("does not search"))).toEqual([]);
});

test("that the plan ends is told to every organization, once for each warning", async () => {
  const orgs = [await createListening("kept.example"), await createListening("other.example")];
  const refreshWith = async (days: number) => {
    workers.plan = { SubscribedUntil: new Date(Date.now() + days * 24 * 3_600_000).toISOString() };
    await subscription.refresh();
    for (const org of orgs) {
      await scanOnce(org);
      await scanOnce(org);
    }
  };
  await refreshWith(20);
  await refreshWith(5);
  for (const org of orgs) {
    expect((await reportedTo(org)).filter((text) => text.includes("ends within"))).toEqual([
      expect.stringContaining("within 30 days"),
      expect.stringContaining("within 7 days"),
    ]);
  }
});

test.each(["before", "after"] as const)(
  "a notice is told once by a scan whose end dies %s its transaction",
  async (when) => {
    await createOrganization({ "kept.example": 1 });
    const org = await createListening("kept.example");
    workers.plan = { IncludesCustomerDomains: false };
    await subscription.refresh();
    expect((await storedSubscription())?.notices).toMatchObject([{ id: "customer-domains" }]);
    const scanId = await start(org, "manual", administrator);
    await takeMessages("scan-plans");
    const death = onTableRequest("the oldest domain without a search", when, async () => {
      throw new Error("The worker dies");
    });
    await expect(endEarly(org, scanId)).rejects.toThrow("The worker dies");
    expect(death.happened).toBe(true);
    await end(org, scanId, { logger });
    await scanOnce(org);
    expect((await reportedTo(org)).filter((text) => text.includes("IncludesCustomerDomains"))).toHaveLength(
      1,
    );
  },
);
