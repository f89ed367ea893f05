import { afterAll, beforeAll, expect, test } from "vitest";
import * as log from "../../shared/activity/log.ts";
import type { Actor } from "../../shared/organizations/actor.ts";
import * as organizations from "../../shared/organizations/organization.ts";
import * as teams from "../../shared/organizations/team.ts";
import * as users from "../../shared/organizations/user.ts";
import { type Engine, startEngine } from "../table/engine.ts";
import { activeBilling } from "./billing.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await startEngine();
});
afterAll(() => engine.stop());

test("an actor is shown as user, api_key or system; a removed user as removed; one who is not a member as support", async () => {
  const [{ id: org }, { id: other }] = await Promise.all([
    organizations.create({ name: "A", billing: activeBilling, scanEvery: "never" }),
    organizations.create({ name: "B", billing: activeBilling, scanEvery: "never" }),
  ]);
  const member = await users.create(org, { email: "member@a.example", name: null });
  const leaver = await users.create(org, { email: "leaver@a.example", name: null });
  const stranger = await users.create(other, { email: "staff@b.example", name: null });
  const actors: Actor[] = [
    ...[member, leaver, stranger].map(({ id, email }): Actor => ({ type: "user", id, label: email })),
    { type: "api_key", id: 1, label: "Key" },
    { type: "system", id: null, label: "Administrator" },
  ];
  for (const [index, actor] of actors.entries()) await teams.create(org, `Team ${index}`, actor);
  expect(await users.remove(org, leaver.id)).toBe(true);

  const { activity } = await log.list(org, { limit: 10, offset: 0 }, new Date());
  expect(activity.map((entry) => entry.actor).reverse()).toEqual([
    { type: "user", label: "member@a.example" },
    { type: "removed", label: "Removed user" },
    { type: "support", label: "Support" },
    { type: "api_key", label: "Key" },
    { type: "system", label: "Administrator" },
  ]);
});

test("a user of another organization can be neither seen nor removed", async () => {
  const [{ id: org }, { id: other }] = await Promise.all([
    organizations.create({ name: "A", billing: activeBilling, scanEvery: "never" }),
    organizations.create({ name: "B", billing: activeBilling, scanEvery: "never" }),
  ]);
  const stranger = await users.create(other, { email: "staff@b.example", name: null });
  expect(await users.get(org, stranger.id)).toBeUndefined();
  expect(await users.remove(org, stranger.id)).toBe(false);
  expect(await users.list(other)).toHaveLength(1);
});
