/** Rows of organizations of releases before they were guarded, and a release before that is deployed again. */
import { describe, expect, test } from "vitest";
import { sweep } from "../../../functions/sweep/handler.ts";
import { administrator } from "../../../shared/access/activity/actor.ts";
import * as organizations from "../../../shared/access/organizations/organization.ts";
import { guard } from "../../../shared/access/organizations/row.ts";
import * as settings from "../../../shared/access/organizations/settings.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import * as teams from "../../../shared/monitoring/teams/team.ts";
import * as deletion from "../../../shared/operations/deletion.ts";
import { invocation, useWorkers } from "../../scanning/in-process-workers.ts";
import { activeBilling } from "./billing.ts";

useWorkers();

const lapsed = { ...activeBilling, status: "subscription_inactive" } as const;
const guarded = (org: number) => table.get<organizations.Organization>(keys.organization(org));
const unguarded = (org: number) => table.get<organizations.Organization>(keys.unguardedOrganization(org));
const create = async () =>
  (await organizations.create({ name: "A", billing: activeBilling, scanEvery: "never" })).id;
/** An organization as a release before stored it. */
const createBefore = async () => {
  const org = await create();
  await table.remove(keys.organization(org));
  return org;
};
const rename = (org: number, name: string) => settings.change(org, { name }, administrator, async () => null);
const sweepNow = () => sweep(invocation(), { silenceSeconds: 60, deletionSeconds: 0 });
/** Of one organization: both rows have the same, but for their keys. */
const expectSame = async (org: number) => {
  const [row, former] = [await guarded(org), await unguarded(org)];
  expect({ ...row, ...keys.unguardedOrganization(org) }).toEqual(former);
};

describe("an organization that an earlier release stored", () => {
  test("is read, listed, renamed and given teams before it is moved", async () => {
    const org = await createBefore();
    expect(await organizations.existing(org)).toMatchObject({ id: org, name: "A" });
    expect((await organizations.list()).map(({ id }) => id)).toContain(org);
    await teams.create(org, "Sales", administrator);
    await rename(org, "B");
    expect(await settings.show(org, new Date())).toMatchObject({ name: "B" });
    // A function may not write the billing, which moving the row takes.
    expect(await guarded(org)).toBeUndefined();
  });

  test("is moved by a command that changes it, together with the change", async () => {
    const org = await createBefore();
    await organizations.setBilling(org, lapsed);
    expect(await guarded(org)).toMatchObject({ name: "A", billing: lapsed });
    await expectSame(org);
  });

  test("is moved once, with each change that is made meanwhile", async () => {
    const org = await createBefore();
    const changes = [rename(org, "B"), organizations.setBilling(org, lapsed), guard(org), guard(org)];
    await Promise.all(changes);
    expect(await guarded(org)).toMatchObject({ name: "B", billing: lapsed });
    await expectSame(org);
    expect(await guard(org)).toEqual({ outcome: "unchanged" });
  });

  test("is deleted, whether or not its row was moved", async () => {
    for (const org of [await createBefore(), await create()]) {
      expect(await deletion.begin(org)).toBe("begun");
      for (let times = 0; times < 3; times++) await sweepNow();
      expect([await guarded(org), await unguarded(org)]).toEqual([undefined, undefined]);
      expect(await deletion.begin(org)).toBe("unknown");
    }
  });
});

describe("a release before, deployed again", () => {
  test("finds every change where it reads it", async () => {
    const org = await create();
    await rename(org, "B");
    await organizations.setMailBudget(org, { hour: 1, day: 2 });
    await organizations.setScanFrequency(org, "week", new Date().toISOString());
    await expectSame(org);
  });

  test("changes the billing, which is taken over, and the name, which is reported", async () => {
    const org = await create();
    await table.update(keys.unguardedOrganization(org), { set: { billing: lapsed, name: "B" } });
    expect(await guard(org)).toEqual({ outcome: "taken over", otherName: { name: "A", formerName: "B" } });
    expect(await guarded(org)).toMatchObject({ name: "A", billing: lapsed });
    expect(await guard(org)).toEqual({ outcome: "unchanged", otherName: { name: "A", formerName: "B" } });
  });

  test("begins a deletion, which this release heeds at once and ends", async () => {
    const org = await create();
    const due = { dueShard: "DELETION#0", dueAt: new Date(0).toISOString() };
    await table.update(keys.unguardedOrganization(org), { set: { deleting: true, ...due } });
    await sweepNow();
    expect(await guarded(org)).toMatchObject({ deleting: true, dueAt: due.dueAt });
    expect(await guarded(org)).not.toHaveProperty("deletingSince");
    for (let times = 0; times < 2; times++) await sweepNow();
    expect([await guarded(org), await unguarded(org)]).toEqual([undefined, undefined]);
  });

  test("begins a deletion that the command takes over, and the sweep ends", async () => {
    const org = await create();
    const begun = { deleting: true, deletingSince: "2026-01-01T00:00:00.000Z" };
    await table.update(keys.unguardedOrganization(org), { set: begun });
    expect(await guard(org)).toEqual({ outcome: "taken over" });
    expect(await guarded(org)).toMatchObject({ deleting: true, dueAt: new Date(0).toISOString() });
    for (let times = 0; times < 2; times++) await sweepNow();
    expect([await guarded(org), await unguarded(org)]).toEqual([undefined, undefined]);
  });
});

describe("a function that writes the former row", () => {
  /** What a role that may write other rows of the organization can do to the former one. */
  const tamper = {
    "gives it a version of no release": (org: number) =>
      table.update(keys.unguardedOrganization(org), { set: { name: "X" }, version: 99 }),
    "deletes it": (org: number) => table.remove(keys.unguardedOrganization(org)),
  };

  test.each(Object.entries(tamper))("and %s hinders no change, and the command mends it", async (_, act) => {
    const org = await create();
    await act(org);
    await rename(org, "B");
    await organizations.setBilling(org, lapsed);
    await organizations.setScanFrequency(org, "week", new Date().toISOString());
    expect(await guarded(org)).toMatchObject({ name: "B", billing: lapsed, scanEvery: "week" });
    await act(org);
    expect(await guard(org)).toEqual({ outcome: "rewritten" });
    await expectSame(org);
    expect(await guard(org)).toEqual({ outcome: "unchanged" });
  });

  test.each(Object.entries(tamper))("and %s hinders no deletion", async (_, act) => {
    const org = await create();
    await act(org);
    await deletion.begin(org);
    await act(org);
    for (let times = 0; times < 2; times++) await sweepNow();
    expect(await guarded(org)).toBeUndefined();
    expect(await unguarded(org)).toBeUndefined();
  });
});
