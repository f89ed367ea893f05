import { describe, expect, test } from "vitest";
import { expectRefusal, timestamp } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { addBreachedEmail } from "../service/alert-channels.ts";
import { createClient } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";
import { activity } from "./activity.ts";
import { linkIn, untilMailed } from "./outbox.ts";
import { addPasskey, beginSignIn, redeemPasskey } from "./passkeys.ts";
import { createSession, signedIn, visitor } from "./signed-in.ts";

const create = async (name = "Inviting") => {
  const organization = await createOrganization({ name });
  const user = await signedIn(organization.id);
  const { dashboard } = user;
  return {
    ...organization,
    org: organization.id,
    user,
    invite: (body: object) => dashboard.post("/members", body),
    resend: (id: unknown) => dashboard.post(`/members/${id}/invitation`),
    change: (id: number, body: object) => dashboard.patch(`/members/${id}`, body),
    remove: (id: unknown) => dashboard.delete(`/members/${id}`),
    list: async (query = "") =>
      (await dashboard.get(`/members${query}`)).body as { members: { id: number }[]; total: number },
  };
};

const signIn = (mail = "") => visitor().post("/sign-in/sessions", { token: linkIn(mail).hash.slice(1) });

test("POST 201 creates the member and mails a link that signs in", async () => {
  const { org, user, invite } = await create();
  const email = `new.${org}@invited.example`;
  const reply = await invite({ email: ` ${email.toUpperCase()} `, name: "New", role: "member" });
  const { id } = reply.body;
  expect(reply).toMatchObject({ status: 201, body: { id: expect.any(Number), email, name: "New" } });
  expect(reply.body).toMatchObject({ role: "member", createdAt: timestamp, invitedAt: timestamp });
  expect(reply.body).toMatchObject({ joinedAt: null, lastSignInAt: null, invitationSent: true });
  const [mail = ""] = await untilMailed(email);
  expect(mail).toContain("Inviting");
  const session = { user: { id, role: "member" }, organization: { id: org } };
  expect(await signIn(mail)).toMatchObject({ status: 201, body: session });
  expect(await activity(user.v1, "member.invited")).toMatchObject([
    { category: "teams", summary: expect.stringContaining(email), actor: { label: user.email } },
  ]);
  const again = await invite({ email, role: "member" });
  expectRefusal(again, 409, /already has a member/, { code: "member_exists" });
});

test("admins are told by e-mail of one who is invited, and of one who is made so", async () => {
  const { org, user, invite, change } = await create();
  const [invited, promoted] = ["invited", "promoted"].map((name) => `${name}.${org}@admins.example`);
  await invite({ email: invited, role: "admin" });
  const { body: member } = await invite({ email: promoted, role: "member" });
  const id = Number(member.id);
  await change(id, { name: "Renamed" });
  await change(id, { role: "admin" });
  await change(id, { role: "admin", name: "Renamed again" });
  const mails = await untilMailed(user.email, 2);
  const madeBy = mails.map((mail) => /^(\S+) made (\S+) an admin of Inviting\./m.exec(mail)?.slice(1, 3));
  expect(madeBy.sort()).toEqual([
    [user.email, invited],
    [user.email, promoted],
  ]);
});

test("another invitation is mailed and signs in; then the member has joined", async () => {
  const { org, user, invite, resend, list } = await create();
  const memberOf = async (id: unknown) => (await list()).members.find((member) => member.id === id);
  const email = `again.${org}@invited.example`;
  const { body: member } = await invite({ email, role: "member" });
  const reply = await resend(member.id);
  const { invitedAt, ...rest } = member;
  expect(reply).toMatchObject({ status: 200, body: { ...rest, invitedAt: timestamp } });
  expect(String(reply.body.invitedAt) > String(invitedAt)).toBe(true);
  const mails = await untilMailed(email, 2);
  expect(await memberOf(member.id)).toMatchObject({ invitedAt: reply.body.invitedAt, joinedAt: null });
  expect((await signIn(mails[1])).status).toBe(201);
  const { joinedAt } = (await memberOf(member.id)) as unknown as { joinedAt: string };
  // The first that is redeemed ends the others.
  expectRefusal(await signIn(mails[0]), 401, /not valid any more/, { code: "invalid_link" });
  const { invitedAt: lastInvited } = reply.body;
  expect(await memberOf(member.id)).toMatchObject({
    joinedAt,
    invitedAt: lastInvited,
    lastSignInAt: timestamp,
  });
  expect(await activity(user.v1, "member.invited")).toMatchObject([
    { summary: `Invited ${email} again`, actor: { label: user.email } },
    { summary: `Invited ${email} as a member` },
  ]);
});

test("another invitation: also of whom the operator created, 409 of who has signed in", async () => {
  const { org, user, resend } = await create();
  const email = `operator.${org}@invited.example`;
  const { id } = await admin("user create", { org, email, role: "admin" });
  expect((await resend(id)).body).toMatchObject({ invitedAt: timestamp, invitationSent: true });
  await untilMailed(email);
  expectRefusal(await resend(user.userId), 409, /signed in already/, { code: "member_joined" });
});

test("GET lists the members newest first, without those who were removed", async () => {
  const { org, list, user } = await create();
  const { id } = await admin("user create", { org, email: "ada@list.example", name: "Ada", role: "admin" });
  const gone = await admin("user create", { org, email: "gone@list.example", role: "admin" });
  await admin("user remove", { org, user: gone.id });
  const times = {
    createdAt: timestamp,
    invitedAt: null,
    joinedAt: null,
    lastSignInAt: null,
    hasIdentity: false,
  };
  const joined = { ...times, joinedAt: timestamp, lastSignInAt: timestamp };
  expect(await list()).toEqual({
    members: [
      { ...times, id, email: "ada@list.example", name: "Ada", role: "admin" },
      { ...joined, id: user.userId, email: user.email, name: null, role: "admin" },
    ],
    total: 2,
  });
  expect(await list("?limit=1&offset=1")).toMatchObject({ members: [{ id: user.userId }], total: 2 });
});

test("PATCH changes the role, which holds on the very next request", async () => {
  const { org, user, change } = await create();
  const other = await signedIn(org, { role: "member" });
  expect((await other.dashboard.get("/api-keys")).status).toBe(403);
  for (const _ of [1, 2]) {
    const reply = await change(other.userId, { role: "admin", name: "Ada" });
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
  }
  expect((await other.dashboard.get("/api-keys")).status).toBe(200);
  const session = async () => (await other.dashboard.get("/session")).body;
  expect(await session()).toMatchObject({ user: { name: "Ada", role: "admin" } });
  expect(await activity(user.v1, "member.updated")).toMatchObject([{ category: "teams" }]);
  await change(other.userId, { name: null });
  expect(await session()).toMatchObject({ user: { name: null } });
});

test("PATCH to member ends an admin's sessions and passkeys, but the one that asks", async () => {
  const { org, user, change } = await create();
  const other = await signedIn(org);
  const passkey = await addPasskey(other.dashboard);
  expect((await change(other.userId, { role: "member" })).status).toBe(200);
  expect((await other.dashboard.get("/session")).status).toBe(401);
  const answer = passkey.answer(await beginSignIn());
  expectRefusal(await redeemPasskey(answer), 401, /not known here/, { code: "passkey_unknown" });

  const second = await signedIn(org);
  const elsewhere = await createSession(org, { id: second.userId, email: second.email });
  expect((await second.dashboard.patch(`/members/${second.userId}`, { role: "member" })).status).toBe(200);
  expect((await second.dashboard.get("/session")).body).toMatchObject({ user: { role: "member" } });
  expect((await elsewhere.dashboard.get("/session")).status).toBe(401);
  expect((await user.dashboard.get("/session")).status).toBe(200);
});

describe("a member's API keys", () => {
  const withKeys = async () => {
    const created = await create();
    const other = await signedIn(created.org);
    const make = async ({ dashboard }: typeof other, label: string) =>
      String((await dashboard.post("/api-keys", { label })).body.key);
    const [one, two, own] = [
      await make(other, "One"),
      await make(other, "Two"),
      await make(created.user, "Own"),
    ];
    const statuses = () =>
      Promise.all(
        [one, two, own].map(
          async (key) => (await createClient({ authorization: `Bearer ${key}` }).get("/emails")).status,
        ),
      );
    return { ...created, other, statuses };
  };

  test("stay when the member is removed, unless revokeKeys is true", async () => {
    const { user, other, remove, statuses } = await withKeys();
    expect((await remove(other.userId)).status).toBe(200);
    expect(await statuses()).toEqual([200, 200, 200]);
    // Again: it was interrupted, or somebody thinks better of it.
    for (const _ of ["once", "again"])
      expect((await user.dashboard.delete(`/members/${other.userId}?revokeKeys=true`)).status).toBe(200);
    expect(await statuses()).toEqual([401, 401, 200]);
    expect(await activity(user.v1, "api_key.revoked")).toHaveLength(2);
    expectRefusal(await user.dashboard.delete(`/members/${other.userId}?revokeKeys=1`), 400, /revokeKeys/);
  });

  test("are revoked with a change of the role, or by themselves", async () => {
    const { other, user, change, statuses } = await withKeys();
    expect((await change(other.userId, { role: "member", revokeKeys: false })).status).toBe(200);
    expect(await statuses()).toEqual([200, 200, 200]);
    expect((await change(other.userId, { revokeKeys: true })).status).toBe(200);
    expect(await statuses()).toEqual([401, 401, 200]);
    // The last admin keeps the role, and the key.
    const refused = await change(user.userId, { role: "member", revokeKeys: true });
    expectRefusal(refused, 409, /last admin/, { code: "last_admin" });
    expect(await statuses()).toEqual([401, 401, 200]);
  });

  test("are revoked by the operator who removes the member", async () => {
    const { org, other, statuses } = await withKeys();
    const { keys } = await admin("key list", { org });
    expect(keys).toMatchObject([
      { label: "Own" },
      { createdBy: other.email },
      { createdBy: other.email },
      {},
    ]);
    await admin("user remove", { org, user: other.userId, "revoke-keys": true });
    expect(await statuses()).toEqual([401, 401, 200]);
  });
});

test("409 last_admin: the last one is neither demoted nor removed", async () => {
  const { user, change, remove } = await create();
  const code = { code: "last_admin" };
  expectRefusal(await change(user.userId, { role: "member" }), 409, /last admin/, code);
  expectRefusal(await remove(user.userId), 409, /last admin/, code);
});

test("DELETE ends the sessions of the member; then the member is unknown", async () => {
  const { org, user, change, remove, resend } = await create();
  const other = await signedIn(org);
  for (const _ of [1, 2])
    expect(await remove(other.userId)).toMatchObject({ status: 200, body: { success: true } });
  expect((await other.dashboard.get("/session")).status).toBe(401);
  expect(await activity(user.v1, "member.removed")).toMatchObject([
    { category: "teams", summary: expect.stringContaining(other.email) },
  ]);
  expectRefusal(await change(other.userId, { role: "member" }), 404, /No member/);
  expectRefusal(await resend(other.userId), 404, /No member/);
});

test("findings that a removed member acknowledged, and the log, do not name the member", async () => {
  const { org, user, remove, ...organization } = await create();
  const other = await signedIn(org);
  await addBreachedEmail(organization);
  await scan(other.v1);
  const read = async (path: "/breaches" | "/findings") => {
    const client = path === "/breaches" ? user.v1 : user.dashboard;
    const { breaches, findings } = (await client.get(path)).body;
    return (breaches ?? findings) as { id: number; acknowledgedBy: unknown }[];
  };
  const id = (await read("/breaches"))[0]?.id as number;
  await other.v1.post("/breaches/acknowledge", { id });
  const expectBy = async (label: string) => {
    for (const path of ["/breaches", "/findings"] as const) {
      const acknowledged = (await read(path)).find((each) => each.id === id);
      expect(acknowledged?.acknowledgedBy).toEqual({ id: other.userId, label });
    }
  };
  await expectBy(other.email);
  await remove(other.userId);
  await expectBy("Removed user");
  expect(await activity(user.v1, "finding.acknowledged")).toMatchObject([
    { actor: { type: "removed", label: "Removed user" } },
  ]);
});
