import { beforeEach, describe, expect, test } from "vitest";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let org: number;
let user: SignedIn;
beforeEach(async () => {
  org = (await createOrganization()).id;
  user = await signedIn(org);
});
const change = (id: number, body: unknown) => user.dashboard.patch(`/members/${id}`, body);

describe("200", () => {
  test("changes the role, which holds on the very next request", async () => {
    const other = await signedIn(org, { role: "member" });
    expect((await other.dashboard.get("/api-keys")).status).toBe(403);
    for (const _ of [1, 2]) {
      expect(await change(other.userId, { role: "admin", name: "Ada" })).toMatchObject({
        status: 200,
        body: { success: true },
      });
    }
    expect((await other.dashboard.get("/api-keys")).status).toBe(200);
    expect((await other.dashboard.get("/session")).body).toMatchObject({
      user: { name: "Ada", role: "admin" },
    });
    expect(await activity(user.v1, "member.updated")).toMatchObject([{ category: "teams" }]);
    await change(other.userId, { name: null });
    expect((await other.dashboard.get("/session")).body).toMatchObject({ user: { name: null } });
  });
});

describe("400", () => {
  test.each([{}, { role: "owner" }, { role: null }, { name: " " }])("refuses %j", async (body) => {
    expectRefusal(await change(user.userId, body), 400, /role|name|at least one field/);
  });
});

describe("404", () => {
  test("knows nobody who was removed", async () => {
    const removed = await signedIn(org);
    await user.dashboard.delete(`/members/${removed.userId}`);
    for (const id of [removed.userId, unknownId]) {
      expectRefusal(await change(id, { role: "member" }), 404, /No member/);
    }
  });
});

describe("409", () => {
  test("keeps the last admin", async () => {
    await signedIn(org, { role: "member" });
    expectRefusal(await change(user.userId, { role: "member" }), 409, /last admin/, { code: "last_admin" });
    expect((await change(user.userId, { name: "Boss" })).status).toBe(200);
  });

  test("keeps one of two admins who step back at the same time", async () => {
    const other = await signedIn(org);
    const replies = await Promise.all([
      user.dashboard.patch(`/members/${user.userId}`, { role: "member" }),
      other.dashboard.patch(`/members/${other.userId}`, { role: "member" }),
    ]);
    const { members } = (await user.dashboard.get("/members")).body as { members: { role: string }[] };
    expect(members.filter(({ role }) => role === "admin")).toHaveLength(1);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});
