import { beforeAll, describe, expect, test } from "vitest";
import { countStatuses, expectEveryHeader, expectRefusal, timestamp } from "../endpoints/reply.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { linkIn, mailsTo } from "./outbox.ts";
import { type SignedIn, signedIn, visitor } from "./signed-in.ts";

let org: number;
let user: SignedIn;
beforeAll(async () => {
  org = (await createOrganization({ name: "Inviting" })).id;
  user = await signedIn(org);
});
const invite = (body: unknown) => user.dashboard.post("/members", body);

describe("201", () => {
  test("creates the member and mails a link that signs in", async () => {
    const email = `new.${org}@invited.example`;
    const reply = await invite({ email: ` ${email.toUpperCase()} `, name: "New", role: "member" });
    expectEveryHeader(reply);
    expect(reply).toMatchObject({
      status: 201,
      body: {
        id: expect.any(Number),
        email,
        name: "New",
        role: "member",
        createdAt: timestamp,
        invitedAt: timestamp,
        joinedAt: null,
        lastSignInAt: null,
        invitationSent: true,
      },
    });
    const [mail = ""] = await eventually(
      () => mailsTo(email),
      (mails) => mails.length > 0,
    );
    expect(mail).toContain("Inviting");
    const token = linkIn(mail).hash.slice(1);
    const session = await visitor().post("/sign-in/sessions", { token });
    expect(session).toMatchObject({
      status: 201,
      body: { user: { id: reply.body.id, role: "member" }, organization: { id: org } },
    });
    expect(await activity(user.v1, "member.invited")).toMatchObject([
      { category: "teams", summary: expect.stringContaining(email), actor: { label: user.email } },
    ]);
  });
});

describe("400", () => {
  test.each([
    {},
    { email: "nobody", role: "member" },
    { email: "a@b.example" },
    { email: "a@b.example", role: "owner" },
    { email: "a@b.example", role: "member", name: "" },
  ])("refuses %j", async (body) => {
    expectRefusal(await invite(body), 400, /email: |role: |name: /);
  });
});

describe("409", () => {
  test("refuses an address that a member has, also when many come at once", async () => {
    const body = { email: `twice.${org}@invited.example`, role: "admin" };
    const replies = await Promise.all(Array.from({ length: 8 }, () => invite(body)));
    expect(countStatuses(replies)).toEqual({ 201: 1, 409: 7 });
    expectRefusal(await invite(body), 409, /already has a member/, { code: "member_exists" });
  });

  test("takes an address again that was removed", async () => {
    const body = { email: `again.${org}@invited.example`, role: "member" };
    const { body: first } = await invite(body);
    await user.dashboard.delete(`/members/${first.id}`);
    expect((await invite(body)).status).toBe(201);
  });
});
