import { describe, expect, test } from "vitest";
import { administrator } from "../../../shared/access/activity/actor.ts";
import * as log from "../../../shared/access/activity/log.ts";
import * as users from "../../../shared/access/members/user.ts";
import * as organizations from "../../../shared/access/organizations/organization.ts";
import { Refusal } from "../../../shared/contract/errors.ts";
import { useEngine } from "../../aws/table/engine.ts";
import { activeBilling } from "./billing.ts";

useEngine();

const createOrganization = async (...roles: ("admin" | "member")[]) => {
  const { id: org } = await organizations.create({
    name: "Acme",
    billing: activeBilling,
    scanEvery: "never",
  });
  const all: users.User[] = [];
  for (const [index, role] of roles.entries()) {
    const user = await users.create(org, { email: `user-${index}@acme.example`, name: null, role });
    if (user !== "exists") all.push(user);
  }
  return { org, ids: all.map(({ id }) => id) };
};

const isLastAdmin = (error: unknown): boolean => error instanceof Refusal && error.refusal === "lastAdmin";
const rolesOf = async (org: number) => (await users.list(org)).map(({ role }) => role).reverse();

describe("the last admin", () => {
  test("can be neither removed nor made a member; with force it can be removed", async () => {
    const { org, ids } = await createOrganization("admin", "member");
    const [admin = 0] = ids;
    await expect(users.remove(org, admin)).rejects.toSatisfy(isLastAdmin);
    await expect(users.change(org, admin, { role: "member" }, administrator)).rejects.toSatisfy(isLastAdmin);
    expect(await rolesOf(org)).toEqual(["admin", "member"]);
    expect(await users.remove(org, admin, { force: true })).toBe("removed");
  });

  test("is not the last while there is another, nor is a member", async () => {
    const { org, ids } = await createOrganization("admin", "admin", "member");
    expect(await users.remove(org, ids[2] ?? 0)).toBe("removed");
    expect(await users.remove(org, ids[0] ?? 0)).toBe("removed");
    await expect(users.remove(org, ids[1] ?? 0)).rejects.toSatisfy(isLastAdmin);
  });

  test("stays, however many admins remove and demote each other at the same time", async () => {
    for (let round = 0; round < 5; round++) {
      const { org, ids } = await createOrganization("admin", "admin", "admin");
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
  test("is logged once, and one that changes nothing is not", async () => {
    const { org, ids } = await createOrganization("admin", "member");
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

  test("is refused for who is not there, and for who was removed", async () => {
    const { org, ids } = await createOrganization("admin", "member");
    const [, id = 0] = ids;
    await users.remove(org, id);
    for (const gone of [id, 9_999_999]) {
      await expect(users.change(org, gone, { name: "x" }, administrator)).rejects.toMatchObject({
        refusal: "memberNotFound",
      });
    }
  });
});
