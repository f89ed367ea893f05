import { expect, test } from "vitest";
import type { Actor } from "../../../shared/access/activity/actor.ts";
import * as log from "../../../shared/access/activity/log.ts";
import * as users from "../../../shared/access/members/user.ts";
import * as organizations from "../../../shared/access/organizations/organization.ts";
import * as teams from "../../../shared/monitoring/teams/team.ts";
import { useEngine } from "../../aws/table/engine.ts";
import { activeBilling } from "./billing.ts";

useEngine();

const createUser = async (org: number, email: string): Promise<users.User> => {
  const user = await users.create(org, { email, name: null });
  if (user === "exists") throw new Error("Another user has this address");
  return user;
};

test("removed users are shown as removed, users who were never members as support", async () => {
  const [{ id: org }, { id: other }] = await Promise.all([
    organizations.create({ name: "A", billing: activeBilling, scanEvery: "never" }),
    organizations.create({ name: "B", billing: activeBilling, scanEvery: "never" }),
  ]);
  const member = await createUser(org, "member@a.example");
  const leaver = await createUser(org, "leaver@a.example");
  const stranger = await createUser(other, "staff@b.example");
  const actors: Actor[] = [
    ...[member, leaver, stranger].map(({ id, email }): Actor => ({ type: "user", id, label: email })),
    { type: "api_key", id: 1, label: "Key" },
    { type: "system", id: null, label: "Administrator" },
  ];
  for (const [index, actor] of actors.entries()) await teams.create(org, `Team ${index}`, actor);
  expect(await users.remove(org, leaver.id)).toBe("removed");

  const { activity } = await log.list(org, { limit: 10, offset: 0 }, new Date());
  expect(activity.map((entry) => entry.actor).reverse()).toEqual([
    { type: "user", label: "member@a.example" },
    { type: "removed", label: "Removed user" },
    { type: "support", label: "Support" },
    { type: "api_key", label: "Key" },
    { type: "system", label: "Administrator" },
  ]);
});

test("a user of another organization can be neither read nor removed", async () => {
  const [{ id: org }, { id: other }] = await Promise.all([
    organizations.create({ name: "A", billing: activeBilling, scanEvery: "never" }),
    organizations.create({ name: "B", billing: activeBilling, scanEvery: "never" }),
  ]);
  const stranger = await createUser(other, "staff@b.example");
  expect(await users.get(org, stranger.id)).toBeUndefined();
  expect(await users.remove(org, stranger.id)).toBe("unknown");
  expect(await users.list(other)).toHaveLength(1);
});

test("an address belongs to one user at a time, however many are created at once", async () => {
  const [{ id: org }, { id: other }] = await Promise.all([
    organizations.create({ name: "A", billing: activeBilling, scanEvery: "never" }),
    organizations.create({ name: "B", billing: activeBilling, scanEvery: "never" }),
  ]);
  const create = (of: number) => users.create(of, { email: "ada@a.example", name: null });
  const created = await Promise.all([create(org), create(org), create(org)]);
  expect(created.filter((each) => each === "exists")).toHaveLength(2);
  const [first] = await users.list(org);
  expect(await users.list(org)).toHaveLength(1);
  expect(await create(other)).not.toBe("exists");

  expect(await users.remove(org, first?.id ?? 0, { force: true })).toBe("removed");
  const second = await createUser(org, "ada@a.example");
  // Removing the first user again does not free the address, which is now the second user's.
  expect(await users.remove(org, first?.id ?? 0, { force: true })).toBe("already");
  expect(await create(org)).toBe("exists");
  expect(await users.list(org)).toEqual([second]);
});
