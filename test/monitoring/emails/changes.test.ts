import { expect, test } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import * as log from "../../../shared/access/activity/log.ts";
import { activeCount } from "../../../shared/access/billing/billing.ts";
import { removeMany } from "../../../shared/findings/email-removal.ts";
import { changeMany } from "../../../shared/monitoring/emails/changes.ts";
import * as emailList from "../../../shared/monitoring/emails/email-list.ts";
import { dieAfter } from "../../aws/table/request-points.ts";
import { createOrganization, useWorkers } from "../../scanning/in-process-workers.ts";

useWorkers();

const count = 100;
const page = { limit: 100, offset: 0 };
const summaries = async (org: number, action: string) =>
  (await log.list(org, { limit: 100, offset: 0 }, new Date())).activity
    .filter((entry) => entry.action === action)
    .map(({ summary }) => summary);

test.each([
  [1, "before"],
  [0, "after"],
] as const)(
  "many changes cut off after %i transactions (%s) are logged as far as they went",
  async (more, when) => {
    const org = await createOrganization({ "covered.example": count });
    const ids = (await emailList.list(org, page)).emails.map(({ id }) => id);
    dieAfter(more, when);
    await expect(changeMany(org, ids, { isActive: false }, administrator)).rejects.toThrow(
      "The function died",
    );
    const { total: done } = await emailList.list(org, { ...page, isActive: false });
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(count);
    expect(await activeCount(org)).toBe(count - done);
    expect(await summaries(org, "emails.updated")).toEqual([`Changed ${done} addresses: disabled`]);
    expect(await changeMany(org, ids, { isActive: false }, administrator)).toEqual({
      changed: count - done,
      skipped: done,
    });
    expect(await activeCount(org)).toBe(0);
  },
);

test("a removal of many that is cut off leaves the others, which can be removed", async () => {
  const org = await createOrganization({ "covered.example": count });
  const ids = (await emailList.list(org, page)).emails.map(({ id }) => id);
  dieAfter(1, "before");
  await expect(removeMany(org, ids, administrator)).rejects.toThrow("The function died");
  const left = (await emailList.list(org, page)).emails.map(({ id }) => id);
  expect(left.length).toBeGreaterThan(0);
  expect(left.length).toBeLessThan(count);
  expect(await activeCount(org)).toBe(left.length);
  expect(await summaries(org, "emails.removed")).toEqual([`Removed ${count - left.length} addresses`]);
  // One of them is gone: nothing is done.
  await expect(removeMany(org, ids, administrator)).rejects.toMatchObject({ refusal: "emailNotFound" });
  expect(await removeMany(org, left, administrator)).toEqual({ changed: left.length, skipped: 0 });
});
