/** The conditions on which a delivery changes: whoever comes too late changes nothing. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Delivery, deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import * as transitions from "../../shared/alerting/deliveries/transitions.ts";
import { createOrganization, useWorkers } from "../scanning/in-process-workers.ts";
import { createChannel, raiseTo } from "./channels.ts";

useWorkers();
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const nothing = { response: undefined, reached: new Set<string>() };
const failed = { ...nothing, failure: "HTTP 500" };
const letLeaseEnd = (): void => {
  vi.setSystemTime(Date.now() + 60_000);
};

/** A pending delivery of a new organization. `read` gives its row as it is now. */
const raised = async () => {
  const org = await createOrganization({});
  const event = { type: "scan_error", error: "a problem" } as const;
  const [message] = await raiseTo(org, await createChannel(org), [event]);
  const id = message?.deliveryId ?? 0;
  return { org, read: async () => (await deliveries.get(org, id)) as Delivery };
};

const claim = async (org: number, row: Delivery, attempt: number) => {
  const claimed = await transitions.claim(org, row, attempt);
  if (claimed === undefined) throw new Error("The attempt was not claimed");
  return claimed;
};

test("an attempt is claimed once, and the next one only when the lease is over", async () => {
  const { org, read } = await raised();
  const row = await read();
  const claims = await Promise.all([1, 2, 3].map(() => transitions.claim(org, row, 1)));
  expect(claims.filter(Boolean)).toHaveLength(1);
  expect(await transitions.claim(org, row, 1)).toBeUndefined();
  expect(await transitions.claim(org, await read(), 2)).toBeUndefined();
  letLeaseEnd();
  expect(await transitions.claim(org, row, 1)).toBeUndefined();
  expect(await transitions.claim(org, await read(), 2)).toBeDefined();
});

test("an attempt that another one has taken over records nothing", async () => {
  const { org, read } = await raised();
  const late = await claim(org, await read(), 1);
  letLeaseEnd();
  const current = await claim(org, await read(), 2);
  const row = await read();
  const takenBack = { status: "retrying", redispatchInSeconds: 1, isTakenBack: true } as const;
  for (const next of [{ status: "delivered" }, { status: "not delivered" }, takenBack] as const)
    expect(await transitions.finish(org, late, next, nothing)).toBe("lost");
  expect(await read()).toEqual(row);
  expect(await transitions.finish(org, current, { status: "delivered" }, nothing)).toBe("finished");
});

test("while an attempt is in flight nobody postpones, ends, replaces or repeats it", async () => {
  const { org, read } = await raised();
  await claim(org, await read(), 1);
  const row = await read();
  await transitions.postpone(org, row, { reason: "budget", until: new Date().toISOString() }, false);
  await transitions.giveUp(org, row, "too late");
  await transitions.replace(org, row);
  expect(await transitions.scheduleAgain(org, row)).toBe(false);
  expect(await read()).toEqual(row);
});

test("a delivery that changed since it was read is not taken, ended or repeated", async () => {
  const { org, read } = await raised();
  const before = await read();
  const claimed = await claim(org, before, 1);
  await transitions.finish(org, claimed, { status: "retrying", redispatchInSeconds: 3_600 }, failed);
  const row = await read();
  expect(await transitions.takeDue(deliveries.key(org, row.id), before.dueAt ?? "")).toBeUndefined();
  await transitions.postpone(org, before, { reason: "budget", until: new Date().toISOString() }, false);
  await transitions.giveUp(org, before, "too late");
  await transitions.replace(org, before);
  expect(await transitions.scheduleAgain(org, before)).toBe(false);
  expect(await read()).toEqual(row);
  expect(await transitions.scheduleAgain(org, row)).toBe(true);
});
