import { describe, expect, test } from "vitest";
import { type Action, categoryOf } from "../../shared/access/activity/actions.ts";
import * as activity from "../../shared/access/activity/activity.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { blockOf, reserve } from "../../shared/lists/blocks.ts";
import type { MemberWrite } from "../../shared/lists/member-writes.ts";
import { type ScanGroup, type ScanRow, scans } from "../../shared/scanning/record.ts";
import { admin } from "./admin.ts";
import type { Client } from "./client.ts";
import { createKeyClient, createOrganization } from "./organization.ts";
import { scan } from "./scan.ts";

const visibleMilliseconds = 365 * 24 * 60 * 60 * 1000;

/** The distance of test data from the boundary in milliseconds, so that slow requests do not matter. */
const margin = 60 * 60_000;

/** An organization without activity, so that the tests can write its past. */
const createEmpty = async (): Promise<number> =>
  (await admin("org create", { name: "Old", "scan-every": "never" })).id;

const transactAll = async (
  writes: readonly MemberWrite[],
  of: { writes: (org: number, part: MemberWrite[]) => Parameters<typeof table.transact>[0] },
  org: number,
): Promise<void> => {
  for (let start = 0; start < writes.length; start += 90) {
    await table.transact(of.writes(org, writes.slice(start, start + 90)));
  }
};

const ago = (milliseconds: number): string => new Date(Date.now() - milliseconds).toISOString();

/** Writes entries of the activity log that are `age` milliseconds old. */
const writeEntries = async (org: number, action: Action, count: number, age: number) => {
  const category = categoryOf[action];
  const entry = { action, category, summary: "Old", actor: administrator };
  const slots = await reserve(org, "ACTIVITY", count, { at: ago(age) });
  const writes = slots.map((slot) => activity.entries.put(org, slot, { category }, entry));
  await transactAll(writes, activity.entries, org);
};

/** Writes scans that are `age` milliseconds old. */
const writeScans = async (org: number, group: ScanGroup, count: number, age: number) => {
  const at = ago(age);
  const row: ScanRow = {
    startedAt: at,
    completedAt: at,
    errorMessage: null,
    findingsItemized: true,
    totalEmails: 1,
    scannedEmails: 1,
    failedEmails: 0,
    skippedEmails: 0,
    isFirst: false,
    newBreachesFound: 0,
    planned: true,
    remaining: {},
  };
  const reserved = await reserve(org, "SCAN", count, { at });
  await transactAll(
    reserved.map((each) => scans.put(org, each, group, row)),
    scans,
    org,
  );
};

type Page = { total: number; items: { id: number; createdAt: string }[]; visibleSince: string };

const read = async (api: Client, list: "scans" | "activity", query: string): Promise<Page> => {
  const { body } = await api.get(`/${list}?${query}`);
  const { visibleSince } = body.retention as { visibleSince: string };
  return { total: body.total as number, items: body[list] as Page["items"], visibleSince };
};

/** Asserts that all pages tell the same total, that no item is shown twice, and that none is too old. */
const expectPages = async (
  api: Client,
  list: "scans" | "activity",
  filter: string,
  total: number,
): Promise<void> => {
  const size = total > 100 ? 100 : 10;
  const offsets = Array.from({ length: Math.ceil(total / size) + 1 }, (_, index) => index * size);
  const pages = await Promise.all(
    offsets.map((offset) => read(api, list, `${filter}&limit=${size}&offset=${offset}`)),
  );
  expect(pages.map((page) => page.total)).toEqual(pages.map(() => total));
  const items = pages.flatMap((page) => page.items);
  const ids = items.map(({ id }) => id);
  expect(new Set(ids).size).toBe(total);
  expect(ids).toEqual([...ids].sort((a, b) => b - a));
  const { visibleSince = "" } = pages[0] ?? {};
  expect(items.filter(({ createdAt }) => createdAt < visibleSince)).toEqual([]);
};

describe("the last 365 days", () => {
  test("of the activity log are returned with exact totals; older entries are kept", async () => {
    const org = await createEmpty();
    // The entries fill three blocks of ids, and the boundary lies in the second one.
    await writeEntries(org, "team.created", 1_050, visibleMilliseconds + margin);
    await writeEntries(org, "team.created", 100, visibleMilliseconds - margin);
    await writeEntries(org, "email.added", 50, visibleMilliseconds - margin);
    await writeEntries(org, "email.added", 850, 0);
    const api = await createKeyClient(org);
    const directory = await activity.entries.directory(org);
    expect(directory).toHaveLength(3);
    expect(activity.entries.sum(directory)).toBe(2_051);
    await expectPages(api, "activity", "", 1_001);
    await expectPages(api, "activity", "category=teams", 100);
    await expectPages(api, "activity", "category=monitoring", 900);
    await expectPages(api, "activity", "category=api_keys", 1);
    await expectPages(api, "activity", "category=findings", 0);
  });

  test("of scans are returned with exact totals, filtered or not; older ones are kept", async () => {
    const org = await createEmpty();
    await writeScans(org, { type: "scheduled", status: "completed" }, 60, visibleMilliseconds + margin);
    await writeScans(org, { type: "manual", status: "failed" }, 7, visibleMilliseconds + margin);
    await writeScans(org, { type: "manual", status: "failed" }, 11, visibleMilliseconds - margin);
    await writeScans(org, { type: "scheduled", status: "completed" }, 12, 1000);
    const api = await createKeyClient(org);
    expect(scans.sum(await scans.directory(org))).toBe(90);
    await expectPages(api, "scans", "", 23);
    await expectPages(api, "scans", "type=manual", 11);
    await expectPages(api, "scans", "status=completed", 12);
    await expectPages(api, "scans", "type=manual&status=completed", 0);
    await expectPages(api, "scans", "type=scheduled&status=completed", 12);
  });

  test("give an empty list with a total of 0 when everything is older", async () => {
    const org = await createEmpty();
    await writeScans(org, { type: "manual", status: "completed" }, 3, visibleMilliseconds + margin);
    expect(await read(await createKeyClient(org), "scans", "")).toMatchObject({ total: 0, items: [] });
  });

  test("do not hide findings: the id of an older scan stays on them and filters them", async () => {
    const { id: org, api, domainId } = await createOrganization();
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const { id } = (await scan(api)) as { id: number };
    // Moves the scan a year into the past.
    const createdAt = ago(visibleMilliseconds + margin);
    await table.update(scans.key(org, id), { set: { createdAt } });
    await table.update(keys.directory(org, "SCAN", blockOf(id)), { set: { from: Date.parse(createdAt) } });
    expect((await api.get("/scans")).body).toMatchObject({ scans: [], total: 0 });
    const { body } = await api.get(`/breaches?scanId=${id}`);
    expect(body).toMatchObject({ total: 3, unacknowledged: 3 });
    for (const finding of body.breaches as object[]) {
      expect(finding).toMatchObject({ firstDetectedScanId: id });
    }
  });
});
