import { describe, expect, test } from "vitest";
import { type Action, categoryOf } from "../../shared/access/activity/actions.ts";
import * as activity from "../../shared/access/activity/activity.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { blockOf, reserve } from "../../shared/lists/blocks.ts";
import { scans } from "../../shared/scanning/record.ts";
import { admin } from "./admin.ts";
import type { Client } from "./client.ts";
import { createKeyClient, createOrganization } from "./organization.ts";
import { scan } from "./scan.ts";

const visibleMilliseconds = 365 * 24 * 60 * 60 * 1000;

/** The distance of test data from the boundary in milliseconds, so that slow requests do not matter. */
const margin = 60 * 60_000;

const ago = (milliseconds: number): string => new Date(Date.now() - milliseconds).toISOString();

/** Writes entries of the activity log that are `age` milliseconds old. */
const writeEntries = async (org: number, action: Action, count: number, age: number) => {
  const category = categoryOf[action];
  const entry = { action, category, summary: "Old", actor: administrator };
  const slots = await reserve(org, "ACTIVITY", count, { at: ago(age) });
  const writes = slots.map((slot) => activity.entries.put(org, slot, { category }, entry));
  for (const some of chunk(writes, 90)) await table.transact(activity.entries.writes(org, some));
};

type Page = { total: number; activity: { id: number; createdAt: string }[] };

/** Asserts that all pages tell the same total, that no item is shown twice, and that none is too old. */
const expectPages = async (api: Client, filter: string, total: number): Promise<void> => {
  const offsets = Array.from({ length: Math.ceil(total / 100) + 1 }, (_, index) => index * 100);
  const replies = await Promise.all(
    offsets.map((offset) => api.get(`/activity?${filter}&limit=100&offset=${offset}`)),
  );
  const pages = replies.map(({ body }) => body as Page & { retention: { visibleSince: string } });
  expect(pages.map((page) => page.total)).toEqual(pages.map(() => total));
  const entries = pages.flatMap((page) => page.activity);
  const ids = entries.map(({ id }) => id);
  expect(new Set(ids).size).toBe(total);
  expect(ids).toEqual([...ids].sort((a, b) => b - a));
  const { visibleSince = "" } = pages[0]?.retention ?? {};
  expect(entries.filter(({ createdAt }) => createdAt < visibleSince)).toEqual([]);
};

describe("the last 365 days", () => {
  test("of the activity log are returned with exact totals; older entries are kept", async () => {
    const { id: org } = await admin("org create", { name: "Old", "scan-every": "never" });
    // The entries fill three blocks of ids, and the boundary lies in the second one.
    await writeEntries(org, "team.created", 1_050, visibleMilliseconds + margin);
    await writeEntries(org, "team.created", 100, visibleMilliseconds - margin);
    await writeEntries(org, "email.added", 50, visibleMilliseconds - margin);
    await writeEntries(org, "email.added", 850, 0);
    const api = await createKeyClient(org);
    const directory = await activity.entries.directory(org);
    expect(directory).toHaveLength(3);
    expect(activity.entries.sum(directory)).toBe(2_051);
    await expectPages(api, "", 1_001);
    await expectPages(api, "category=teams", 100);
    await expectPages(api, "category=monitoring", 900);
    await expectPages(api, "category=api_keys", 1);
    await expectPages(api, "category=findings", 0);
  });

  test("do not hide findings: the id of an older scan stays on them and filters them", async () => {
    const { id: org, api, domainId } = await createOrganization();
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const { id } = (await scan(api)) as { id: number };
    // Moves the scan a year into the past.
    const createdAt = ago(visibleMilliseconds + margin);
    await table.update(scans.key(org, id), { set: { createdAt } });
    await table.update(keys.directory(org, "SCAN", blockOf(id)), { set: { from: Date.parse(createdAt) } });
    for (const path of ["/scans", "/scans?type=manual", "/scans?status=completed"])
      expect((await api.get(path)).body).toMatchObject({ scans: [], total: 0 });
    const { body } = await api.get(`/breaches?scanId=${id}`);
    expect(body).toMatchObject({ total: 3, unacknowledged: 3 });
    for (const finding of body.breaches as object[]) {
      expect(finding).toMatchObject({ firstDetectedScanId: id });
    }
  });
});
