import { describe, expect, test } from "vitest";
import { categoryOf } from "../../shared/access/activity/actions.ts";
import * as activity from "../../shared/access/activity/activity.ts";
import { administrator } from "../../shared/access/activity/actor.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { blockOf, type Reserved, reserve } from "../../shared/lists/blocks.ts";
import { scans } from "../../shared/scanning/record.ts";
import { admin } from "./admin.ts";
import { createKeyClient } from "./organization.ts";
import { createScanned } from "./scanned.ts";

const visibleMilliseconds = 365 * 24 * 60 * 60 * 1000;

/** The distance of test data from the boundary in milliseconds, so that slow requests do not matter. */
const margin = 60 * 60_000;

const ago = (milliseconds: number): string => new Date(Date.now() - milliseconds).toISOString();

/** Writes an entry of the activity log that is so many milliseconds old. */
const writeEntry = async (org: number, age: number) => {
  const action = "team.created";
  const entry = { action, category: categoryOf[action], summary: "Old", actor: administrator } as const;
  const [slot] = (await reserve(org, "ACTIVITY", 1, { at: ago(age) })) as [Reserved];
  const write = activity.entries.put(org, slot, { category: entry.category }, entry);
  await table.transact(activity.entries.writes(org, [write]));
  return slot.id;
};

describe("the last 365 days", () => {
  // counted-list.test.ts has the boundary in blocks of any age.
  test("of activity are returned with totals; older entries are kept", async () => {
    const { id: org } = await admin("org create", { name: "Old", "scan-every": "never" });
    const old = await writeEntry(org, visibleMilliseconds + margin);
    const young = await writeEntry(org, visibleMilliseconds - margin);
    const api = await createKeyClient(org);
    const ofKey = { action: "api_key.created" };
    expect((await api.get("/activity")).body).toMatchObject({ total: 2, activity: [ofKey, { id: young }] });
    expect((await api.get("/activity?category=teams")).body).toMatchObject({
      total: 1,
      activity: [{ id: young }],
    });
    expect(await activity.entries.get(org, old)).toBeDefined();
  });

  test("hide an older scan but not its findings, which keep its id", async () => {
    const { id: org, api, scanId: id } = await createScanned();
    // Moves the scan a year into the past.
    const createdAt = ago(visibleMilliseconds + margin);
    await table.update(scans.key(org, id), { set: { createdAt } });
    await table.update(keys.tally(org, "SCAN", blockOf(id)), { set: { from: Date.parse(createdAt) } });
    for (const path of ["/scans", "/scans?type=manual", "/scans?status=completed"])
      expect((await api.get(path)).body).toMatchObject({ scans: [], total: 0 });
    const { body } = await api.get(`/breaches?scanId=${id}`);
    expect(body).toMatchObject({ total: 3, unacknowledged: 3 });
    for (const finding of body.breaches as object[]) {
      expect(finding).toMatchObject({ firstDetectedScanId: id });
    }
  });
});
