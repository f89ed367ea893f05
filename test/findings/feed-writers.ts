/** Writers that die at any time, and a reader of the feed that must get each of their findings once. */
import { AsyncLocalStorage } from "node:async_hooks";
import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import * as activity from "../../shared/access/activity/activity.ts";
import { service } from "../../shared/access/activity/actor.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as feed from "../../shared/findings/feed/feed.ts";
import { findings } from "../../shared/findings/record.ts";
import { forDomains } from "../../shared/hibp/subscription.ts";
import { type Reserved, reserve } from "../../shared/lists/blocks.ts";
import { check } from "../../shared/scanning/check.ts";
import { plan } from "../../shared/scanning/plan.ts";
import { start } from "../../shared/scanning/start.ts";
import { intercept, type Request } from "../aws/table/intercept.ts";
import {
  createOrganization,
  endEarly,
  invocation,
  takeMessages,
  type Workers,
} from "../scanning/in-process-workers.ts";

const chance = (percent: number): boolean => randomInt(100) < percent;

/** A client of the feed, which keeps what it has got. `smallest`: the least that it asks for. */
const reader = (org: number, smallest = 1) => {
  let after: string | undefined;
  const got: string[] = [];
  return {
    got,
    /** Reads a page of random size. Gives `hasMore`. */
    read: async (now: Date): Promise<boolean> => {
      const limit = chance(50) && smallest < 20 ? randomInt(smallest, 20) : randomInt(smallest, 1_001);
      const { items, cursor, hasMore } = await feed.read(org, { after, limit, format: "ocsf" }, now);
      expect(items.length).toBeLessThanOrEqual(limit);
      got.push(...items.map((item) => ("metadata" in item ? item.metadata.uid : "")));
      after = cursor;
      return hasMore;
    },
  };
};

/** Reads the rest and compares with all that is in the table. */
const expectAllOnce = async (
  org: number,
  { got, read }: ReturnType<typeof reader>,
  now: Date,
): Promise<{ findings: number; entries: number }> => {
  while (await read(now));
  const idsIn = async (list: typeof findings | typeof activity.entries): Promise<number[]> => {
    const ids: number[] = [];
    for (const block of list.blocks(await list.tally(org)))
      for (const { id } of await list.members(org, block, { project: ["id"] })) ids.push(id);
    return ids;
  };
  const [found, logged] = [await idsIn(findings), await idsIn(activity.entries)];
  const all = [...found.map((id) => `finding-${id}`), ...logged.map((id) => `activity-${id}`)];
  const once = new Set<string>();
  const twice = got.filter((uid) => once.size === once.add(uid).size);
  expect(twice, "twice").toEqual([]);
  expect(
    all.filter((uid) => !once.has(uid)),
    "missing",
  ).toEqual([]);
  expect(got).toHaveLength(all.length);
  return { findings: found.length, entries: logged.length };
};

const killable = new AsyncLocalStorage<true>();

/** Runs work that dies, in one of fifty requests to the table, before the request or after it. */
const killed = async (work: () => Promise<unknown>): Promise<boolean> => {
  try {
    await killable.run(true, work);
    return true;
  } catch {
    return false;
  }
};

/**
 * A client reads a new organization's feed, while workers of scans are killed, start again, and come too
 * late.
 */
export const readScansOfKilledWorkers = async (workers: Workers, domain: string, rounds: number) =>
  readWhileKilling(workers, await createOrganization({ [domain]: addresses }), { domain, rounds });

/** How many addresses the domain has to have. */
export const addresses = 150;

/** The same for an organization that is there. */
export const readWhileKilling = async (
  workers: Workers,
  org: number,
  { domain, rounds, smallestPage = 1 }: { domain: string; rounds: number; smallestPage?: number },
) => {
  // Until HIBP has told its rate, workers keep to the rate of the smallest plan. If one was killed then, the
  // next would search no domain for six seconds.
  await forDomains([domain]);
  const kill = (): void => {
    if (killable.getStore() && chance(1)) throw new Error("Killed");
  };
  const stop = intercept<Request>("finalizeRequest", (next) => async (sent) => {
    kill();
    const reply = await next(sent);
    kill();
    return reply;
  });
  const client = reader(org, smallestPage);
  let isOver = false;
  const reading = (async () => {
    while (!isOver) {
      await client.read(new Date());
      await pause(20);
    }
  })();
  try {
    const breached: Record<number, string[]> = {};
    workers.breached[domain] = breached;
    let late: (() => Promise<unknown>)[] = [];
    for (let round = 0; round < rounds; round++) {
      for (let count = randomInt(60); count > 0; count--) {
        const index = randomInt(addresses);
        breached[index] = [...new Set([...(breached[index] ?? []), `Breach${randomInt(8)}`])];
      }
      const scanId = await start(org, "manual", service);
      const lateNow = late;
      late = [];
      // Messages come again, and those of the scan before come when it has ended.
      const plans = (await takeMessages("scan-plans")).map((one) => () => plan(one, invocation()));
      const checks: (() => Promise<unknown>)[] = [];
      for (let turn = 0; turn < 3; turn++) {
        for (const work of plans) await (turn < 2 ? killed(work) : work());
        const taken = await takeMessages("scan-checks");
        checks.push(...taken.map((one) => () => check(one, invocation())));
        await Promise.all([...checks, ...checks, ...lateNow].map(killed));
      }
      late.push(...plans, ...checks);
      await endEarly(org, scanId);
    }
  } finally {
    isOver = true;
    stop();
    await reading;
  }
  return expectAllOnce(org, client, new Date(Date.now() + 120_000));
};

/** Writers of log entries that take their time or die, by a clock of the test. */
export const readEntriesOfSlowWriters = async (steps: number) => {
  const org = await createOrganization({});
  const client = reader(org);
  let now = Date.now();
  const entry = { action: "email.added", summary: "Added", actor: service } as const;
  let open: Reserved[] = [];
  const write = (slot: Reserved) => table.transact(activity.writes(org, slot, entry));
  for (let step = 0; step < steps; step++) {
    now += randomInt(6_000);
    const at = new Date(now).toISOString();
    if (chance(70)) open.push(...(await reserve(org, "ACTIVITY", 1, { at })));
    // A writer that has not begun to write after half a minute never does.
    open = open.filter(({ createdAt }) => now - Date.parse(createdAt) < 30_000);
    const [slot] = chance(60) ? open.splice(randomInt(Math.max(1, open.length)), 1) : [];
    if (slot !== undefined && chance(85)) await write(slot);
    if (chance(50)) await client.read(new Date(now));
  }
  return expectAllOnce(org, client, new Date(now + 120_000));
};
