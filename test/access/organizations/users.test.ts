import { describe, expect, test } from "vitest";
import { type Actor, administrator } from "../../../shared/access/activity/actor.ts";
import * as log from "../../../shared/access/activity/log.ts";
import * as users from "../../../shared/access/members/user.ts";
import * as sessions from "../../../shared/access/sessions/session.ts";
import { keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { Refusal } from "../../../shared/contract/errors.ts";
import * as teams from "../../../shared/monitoring/teams/team.ts";
import { useEngine } from "../../aws/table/engine.ts";
import { type Command, intercept } from "../../aws/table/intercept.ts";
import { createOrganization, createUser } from "./accounts.ts";

useEngine();

const createWith = async (...roles: ("admin" | "member")[]) => {
  const org = await createOrganization();
  const ids: number[] = [];
  for (const [index, role] of roles.entries())
    ids.push((await createUser(org, `user-${index}@acme.example`, { role })).id);
  return { org, ids };
};

const isLastAdmin = (error: unknown): boolean => error instanceof Refusal && error.refusal === "lastAdmin";
const rolesOf = async (org: number) => (await users.list(org)).map(({ role }) => role).reverse();

describe("the last admin", () => {
  test("stays when all admins remove and demote each other at once", async () => {
    for (let round = 0; round < 5; round++) {
      const { org, ids } = await createWith("admin", "admin", "admin");
      const results = await Promise.allSettled(
        ids.map((id, index) =>
          index === 1 ? users.change(org, id, { role: "member" }, administrator) : users.remove(org, id),
        ),
      );
      const refused = results.filter((result) => result.status === "rejected");
      expect(refused).toHaveLength(1);
      expect(refused.filter(({ reason }) => !isLastAdmin(reason))).toEqual([]);
      expect((await rolesOf(org)).filter((role) => role === "admin")).toHaveLength(1);
    }
  });
});

describe("a change of a user", () => {
  test("keeps a new name and a new role that are set at the same time", async () => {
    const { org, ids } = await createWith("admin", "admin");
    const [, id = 0] = ids;
    const changes = [{ name: "Ada" }, { role: "member" }] as const;
    await Promise.all(changes.map((change) => users.change(org, id, change, administrator)));
    expect(await users.get(org, id)).toMatchObject({ name: "Ada", role: "member" });
  });

  test("is logged once, and one that changes nothing is not", async () => {
    const { org, ids } = await createWith("admin", "member");
    const [, id = 0] = ids;
    await users.change(org, id, { role: "admin" }, administrator);
    await users.change(org, id, { role: "admin" }, administrator);
    await users.change(org, id, { name: "Ada" }, administrator);
    const { activity } = await log.list(org, { limit: 10, offset: 0 }, new Date());
    expect(activity.map(({ action, summary }) => ({ action, summary }))).toEqual([
      { action: "member.updated", summary: "Renamed the member user-1@acme.example" },
      { action: "member.updated", summary: "Made user-1@acme.example an admin" },
    ]);
    expect(await users.get(org, id)).toMatchObject({ role: "admin", name: "Ada" });
  });
});

describe("a change of role", () => {
  const demote = (org: number, id: number, keptSession?: number) =>
    users.change(org, id, { role: "member" }, administrator, {
      ...(keptSession !== undefined && { keptSession }),
    });
  const create = async () => {
    const { org, ids } = await createWith("admin", "admin");
    const [, id = 0] = ids;
    const begin = () => sessions.create(org, { id, email: "user-1@acme.example" });
    const kept = await begin();
    await begin();
    const passkey = { publicKey: "key", counter: 0, createdAt: new Date().toISOString() };
    await table.update(keys.user(org, id), { set: { passkeys: { id: passkey } } });
    const left = async () => (await sessions.list(org, new Date(), id)).map((each) => each.id);
    return { org, id, kept, begin, left };
  };
  const transactions = (before: () => Promise<unknown>): (() => void) =>
    intercept<Command>("initialize", (next, { commandName = "" }) => async (sent) => {
      if (commandName.startsWith("TransactWrite")) await before();
      return next(sent);
    });

  test("to member ends all passkeys and all sessions but the asking one", async () => {
    for (const asks of [true, false]) {
      const { org, id, kept, left } = await create();
      await demote(org, id, asks ? kept.id : undefined);
      expect(await left()).toEqual(asks ? [kept.id] : []);
      expect(await users.get(org, id)).toMatchObject({ role: "member" });
      expect(await users.get(org, id)).not.toHaveProperty("passkeys");
    }
  });

  test("to admin, or of the name, keeps sessions and passkeys", async () => {
    const { org, id, left } = await create();
    await users.change(org, id, { name: "Ada" }, administrator);
    expect(await left()).toHaveLength(2);
    await demote(org, id);
    await sessions.create(org, { id, email: "user-1@acme.example" });
    await users.change(org, id, { role: "admin" }, administrator);
    expect(await left()).toHaveLength(1);
  });

  test("has none that begins while the change is written", async () => {
    const { org, id, begin, left } = await create();
    let begun = 0;
    const restore = transactions(async () => {
      if (begun++ === 0) await begin();
    });
    await demote(org, id);
    restore();
    expect(begun).toBeGreaterThan(1);
    expect(await left()).toEqual([]);
  });

  test("to member ends all sessions even if a first call dies", async () => {
    const { org, id, left } = await create();
    const died = new Error("died");
    const restore = transactions(() => Promise.reject(died));
    await expect(demote(org, id)).rejects.toBe(died);
    restore();
    expect(await users.get(org, id)).toMatchObject({ role: "admin" });
    await demote(org, id);
    expect(await left()).toEqual([]);
  });
});

test("removed users are shown as removed, users who were never members as support", async () => {
  const [org, other] = [await createOrganization(), await createOrganization()];
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

test("an address belongs to one user at a time, however many are created at once", async () => {
  const [org, other] = [await createOrganization(), await createOrganization()];
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
