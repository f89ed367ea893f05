import { beforeAll, describe, expect, test } from "vitest";
import { inOneWindow } from "../endpoints/limit-window.ts";
import { countStatuses, expectEveryHeader, expectRefusal, timestamp, unknownId } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { linkIn, mailsTo } from "./outbox.ts";
import { type SignedIn, signedIn, visitor } from "./signed-in.ts";

let org: number;
let user: SignedIn;
beforeAll(async () => {
  org = (await createOrganization()).id;
  user = await signedIn(org);
});
const resend = (id: unknown) => user.dashboard.post(`/members/${id}/invitation`);
const signIn = (mail = "") => visitor().post("/sign-in/sessions", { token: linkIn(mail).hash.slice(1) });
const memberOf = async (id: unknown) => {
  const { members } = (await user.dashboard.get("/members")).body as { members: { id: number }[] };
  return members.find((member) => member.id === id);
};

describe("200", () => {
  test("mails another link that signs in, and says when; the member has joined then", async () => {
    const email = `again.${org}@invited.example`;
    const { body: member } = await user.dashboard.post("/members", { email, role: "member" });
    const reply = await resend(member.id);
    expectEveryHeader(reply);
    const { invitationSent, invitedAt, ...rest } = member;
    expect(reply).toMatchObject({
      status: 200,
      body: { ...rest, invitedAt: timestamp, joinedAt: null, invitationSent: true },
    });
    expect(String(reply.body.invitedAt) > String(invitedAt)).toBe(true);
    const mails = await eventually(
      () => mailsTo(email),
      ({ length }) => length === 2,
    );
    expect(await memberOf(member.id)).toMatchObject({ invitedAt: reply.body.invitedAt, joinedAt: null });
    expect((await signIn(mails[1])).status).toBe(201);
    const { joinedAt } = (await memberOf(member.id)) as unknown as { joinedAt: string };
    expect((await signIn(mails[0])).status).toBe(201);
    expect(await memberOf(member.id)).toMatchObject({ joinedAt, invitedAt: reply.body.invitedAt });
    expect(await activity(user.v1, "member.invited")).toMatchObject([
      { summary: `Invited ${email} again`, actor: { label: user.email } },
      { summary: `Invited ${email} as a member` },
    ]);
  });

  test("invites a member whom the operator created", async () => {
    const email = `operator.${org}@invited.example`;
    const { id } = await admin("user create", { org, email });
    expect((await resend(id)).body).toMatchObject({ invitedAt: timestamp, invitationSent: true });
    await eventually(
      () => mailsTo(email),
      ({ length }) => length === 1,
    );
  });
});

describe("403", () => {
  test("members may not", async () => {
    const member = await signedIn(org, { role: "member" });
    expectRefusal(await member.dashboard.post(`/members/${user.userId}/invitation`), 403, /admin/, {
      code: "admin_only",
    });
  });
});

describe("404", () => {
  test("an id of nobody, or of a removed member", async () => {
    const gone = await admin("user create", { org, email: `gone.${org}@invited.example` });
    await user.dashboard.delete(`/members/${gone.id}`);
    for (const id of [unknownId, gone.id]) expectRefusal(await resend(id), 404, /No member/);
  });
});

describe("409", () => {
  test("a member who has signed in", async () => {
    expectRefusal(await resend(user.userId), 409, /signed in already/, { code: "member_joined" });
  });
});

describe("429", () => {
  test("60 invitations an hour, first and further ones together", () =>
    inOneWindow(3600, async () => {
      const own = await signedIn((await createOrganization()).id);
      await own.dashboard.post("/members", { email: "x@invited.example", role: "member" });
      const again = () => own.dashboard.post(`/members/${unknownId}/invitation`);
      const replies = await Promise.all(Array.from({ length: 62 }, again));
      expect(countStatuses(replies)).toEqual({ 404: 59, 429: 3 });
    }));
});
