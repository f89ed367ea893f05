import { expect, test } from "vitest";
import { inventedBreach } from "../../local/harness/invented-breach.ts";
import * as activity from "../../shared/access/activity/activity.ts";
import { service } from "../../shared/access/activity/actor.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as feed from "../../shared/findings/feed/feed.ts";
import { findings } from "../../shared/findings/record.ts";
import { firstIdOf, type Reserved, reserve } from "../../shared/lists/blocks.ts";
import {
  createOrganization,
  endEarly,
  runChecks,
  startAndPlan,
  useWorkers,
} from "../scanning/in-process-workers.ts";
import { readEntriesOfSlowWriters, readScansOfKilledWorkers } from "./feed-writers.ts";

const many = Object.fromEntries(Array.from({ length: 420 }, (_, index) => [index, ["Long"]]));
const breached = {
  "killed.example": {},
  "many.example": many,
  "one.example": { 0: ["One"] },
  "dated.example": { 0: ["Dated"] },
};
const workers = useWorkers({ breached });

test("findings of killed and late workers come once, and none is missing", async () => {
  const read = await readScansOfKilledWorkers(workers, "killed.example", 8);
  // Chance gives fewer once in a million runs.
  expect(read.findings).toBeGreaterThan(3);
  expect(read.entries).toBeGreaterThan(6);
});

test("log entries of slow and killed writers come once, and none is missing", async () => {
  expect((await readEntriesOfSlowWriters(250)).entries).toBeGreaterThan(60);
});

test("a log entry is not written half a minute after its slot was taken", async () => {
  const org = await createOrganization({});
  const at = new Date(Date.now() - 31_000).toISOString();
  const [slot] = (await reserve(org, "ACTIVITY", 1, { at })) as [Reserved];
  const entry = { action: "email.added", summary: "Added", actor: service } as const;
  await expect(table.transact(activity.writes(org, slot, entry))).rejects.toThrow(/too long ago/);
  expect(await activity.entries.get(org, slot.id)).toBeUndefined();
});

const blocks = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at);

test("behind 1,500 blocks of removed findings the next finding comes at once", async () => {
  const org = await createOrganization({ "one.example": 1 });
  const scanId = await startAndPlan(org);
  await runChecks();
  await endEarly(org, scanId);
  const read = (after?: string) => feed.read(org, { after, limit: 1_000, format: "native" }, new Date());
  const { cursor } = await read();
  const [block = 0] = findings.blocks(await findings.tally(org));
  const [member] = await findings.members(org, block);
  if (member === undefined) throw new Error("There is no finding");
  for (const some of chunk(blocks(block + 1, 1_500), 25)) {
    await table.transact(
      some.map((each) => ({ put: { ...keys.tally(org, "FINDING", each), from: 0, writes: 2 } })),
    );
  }
  const last = block + 1_501;
  const id = firstIdOf(last) + 7;
  await table.transact([
    { put: { ...member, ...findings.key(org, id), id } },
    { put: { ...keys.tally(org, "FINDING", last), from: 0, writes: 1, [member.group]: 1 } },
    {
      put: {
        ...keys.listHead(org, "FINDING"),
        block: last,
        next: id + 1,
        left: 9,
        at: member.createdAt,
        from: "",
      },
    },
  ]);
  const page = await read(cursor);
  expect(page).toMatchObject({ items: [{ type: "finding", finding: { id } }], hasMore: false });
  expect(await read(page.cursor)).toMatchObject({ items: [], hasMore: false });
});

test.each(["native", "ocsf"] as const)(
  "a breach without a date has none in the format %s",
  async (format) => {
    const org = await createOrganization({ "one.example": 1, "dated.example": 1 });
    const date = { BreachDate: "2019-05-06" };
    workers.catalog = [inventedBreach("One"), inventedBreach("Dated")].map(({ BreachDate: _, ...breach }) =>
      breach.Name === "Dated" ? { ...breach, ...date } : breach,
    );
    const scanId = await startAndPlan(org);
    await runChecks();
    await endEarly(org, scanId);
    const { items } = await feed.read(org, { limit: 1_000, format }, new Date());
    const dates = JSON.stringify(items).match(/"breachDate":"[^"]*"/g);
    expect(dates).toEqual(['"breachDate":"2019-05-06"']);
  },
);

test("findings of a scan come when it has ended; pages stay below Lambda's limit", async () => {
  const org = await createOrganization({ "many.example": 420 });
  const scanId = await startAndPlan(org);
  await runChecks();
  const read = (after?: string) => feed.read(org, { after, limit: 1_000, format: "native" }, new Date());
  if ((await table.get(keys.scanLock(org))) !== undefined) {
    expect(await read()).toMatchObject({ items: [], hasMore: false });
    await endEarly(org, scanId);
  }
  const first = await feed.read(org, { limit: 1, format: "native" }, new Date());
  const [item] = first.items;
  if (item === undefined || !("finding" in item)) throw new Error("There is no finding");
  await table.update(keys.breach((item.finding as { breach: { id: number } }).breach.id), {
    set: { description: `"ü" `.repeat(4_000) },
  });
  const sizes: number[] = [];
  let page = await read();
  const ids: unknown[] = [];
  for (;;) {
    const reply = { statusCode: 200, body: JSON.stringify(page) };
    sizes.push(Buffer.byteLength(JSON.stringify(reply)));
    ids.push(...page.items.map((one) => ("finding" in one ? (one.finding as { id: number }).id : 0)));
    if (!page.hasMore) break;
    page = await read(page.cursor);
  }
  expect(sizes.length).toBeGreaterThan(1);
  expect(Math.max(...sizes)).toBeLessThan(6 * 1024 * 1024);
  expect(new Set(ids).size).toBe(420);
  expect(ids).toHaveLength(420);
  expect(findings.sum(await findings.tally(org))).toBe(420);
});
