import { describe, expect, inject, test } from "vitest";
import { hashOf } from "../../shared/access/keys/secret.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { expectRefusal } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import type { Reply } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { linkIn, mailsTo, untilMailed } from "./outbox.ts";
import { browserWith, createSession, createToken, visitor } from "./signed-in.ts";

let addresses = 0;
const newAddress = (): string => `redeem-${++addresses}@demo.example`;

const redeem = (body: object, headers: Record<string, string> = {}): Promise<Reply> =>
  visitor(headers).post("/sign-in/sessions", body);

const cookieOf = ({ headers }: Reply): string => String(headers["set-cookie"]).split(";")[0] ?? "";

const expectInvalid = (reply: Reply): void => {
  expectRefusal(reply, 401, /not valid any more/, { code: "invalid_link" });
  expect(reply.headers["set-cookie"]).toBeUndefined();
};

const createUser = async (name = "Acme") => {
  const { id: org } = await createOrganization({ name });
  const email = newAddress();
  const { id: user } = await admin("user create", { org, email, name: "Ada", role: "admin" });
  return { org, user, email };
};

/** The token of a link that is mailed to the address. */
const mailedToken = async (email: string): Promise<string> => {
  const { length } = await mailsTo(email);
  await visitor().post("/sign-in/links", { email });
  return linkIn((await untilMailed(email, length + 1)).at(-1)).hash.slice(1);
};

describe("201", () => {
  test("the cookie is a session of the link's user, hidden from scripts and sites", async () => {
    const { org, user, email } = await createUser();
    const firefox = { "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Firefox/140.0" };
    const reply = await redeem({ token: await createToken(org, user) }, firefox);
    expect(reply.status).toBe(201);
    expect(reply.body).toEqual({
      user: { id: user, email, name: "Ada", role: "admin" },
      organization: { id: org, name: "Acme" },
    });
    expect(String(reply.headers["set-cookie"])).toMatch(
      /^session=[0-9A-Za-z]{48}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const { dashboard, v1 } = browserWith(cookieOf(reply));
    expect((await dashboard.get("/session")).body).toMatchObject({ user: { id: user } });
    expect((await dashboard.get("/sessions")).body).toMatchObject({
      sessions: [{ isCurrent: true, createdBy: "user", browser: "Firefox on Windows" }],
      total: 1,
    });
    expect((await v1.get("/emails")).status).toBe(200);
  });

  test("is in the log of the organization signed in to, with the network only", async () => {
    const { org, user, email } = await createUser();
    const { id: other } = await createOrganization();
    const colleague = await admin("user create", { org: other, email, role: "admin" });
    const elsewhere = await createSession(other, { id: colleague.id, email });
    const token = await createToken(org, user);
    const { v1 } = browserWith(cookieOf(await redeem({ token })));
    expectInvalid(await redeem({ token }));
    const entry = {
      category: "teams",
      summary: expect.stringMatching(/^Signed in by a link that an operator made from 127\.\d+\.\d+\.0\/24$/),
      actor: { type: "user", label: email },
    };
    const [logged, ...others] = await activity(v1, "member.signed_in");
    expect([logged, ...others]).toMatchObject([entry]);
    const network = logged?.summary.split(" ").at(-1);
    expect(await activity(elsewhere.v1, "member.signed_in")).toEqual([]);
    const from = new Date(Date.now() - 60_000).toISOString();
    const found = await v1.get(`/activity?q=${network}&actor=${user}&from=${from}&category=teams`);
    expect(found.body).toMatchObject({ total: 1, activity: [entry] });
    const again = await redeem({ token: await mailedToken(email), organizationId: other });
    const { v1: there } = browserWith(cookieOf(again));
    expect(await activity(there, "member.signed_in")).toMatchObject([
      { summary: expect.stringMatching(/^Signed in by a mailed link from 127\.\d+\.\d+\.0\/24$/) },
    ]);
    expect(await activity(v1, "member.signed_in")).toHaveLength(1);
  });

  test("ends the session of the browser's cookie, and no other", async () => {
    const { org, user, email } = await createUser();
    const [replaced, kept] = [
      await createSession(org, { id: user, email }),
      await createSession(org, { id: user, email }),
    ];
    const other = await createUser();
    const headers = { cookie: replaced.cookie, origin: new URL(inject("apiUrl")).origin };
    expectInvalid(await redeem({ token: "A".repeat(32) }, headers));
    expect((await replaced.dashboard.get("/session")).status).toBe(200);
    const reply = await redeem({ token: await createToken(other.org, other.user) }, headers);
    expect(reply).toMatchObject({ status: 201, body: { organization: { id: other.org } } });
    expect((await replaced.dashboard.get("/session")).status).toBe(401);
    expect((await kept.dashboard.get("/session")).status).toBe(200);
    expect((await browserWith(cookieOf(reply)).dashboard.get("/session")).status).toBe(200);
  });

  test("whatever credential, or cookie of no session, comes with the request", async () => {
    const { org, user } = await createUser();
    const { key } = await createOrganization();
    for (const headers of [
      { cookie: "session=made-up" },
      { cookie: `session=${"A".repeat(48)}` },
      { authorization: `Bearer ${key}` },
    ]) {
      const reply = await redeem({ token: await createToken(org, user) }, headers as Record<string, string>);
      expect(reply).toMatchObject({ status: 201, body: { organization: { id: org } } });
    }
  });
});

describe("401 invalid_link", () => {
  test("for unknown, malformed, used and expired tokens alike", async () => {
    const { org, user } = await createUser();
    const used = await createToken(org, user);
    expect((await redeem({ token: used })).status).toBe(201);
    const expired = await createToken(org, user);
    // The table keeps the rows of expired links for days.
    const now = Math.floor(Date.now() / 1000);
    await table.update(keys.signInLink(hashOf(expired)), { set: { expiresAt: now - 1 } });
    for (const token of ["A".repeat(32), "x", `${used}x`, "\u0000", used, expired]) {
      expectInvalid(await redeem({ token }));
    }
  });

  test("after 15 minutes; the row holds a hash, not the token", async () => {
    const { org, user } = await createUser();
    const token = await createToken(org, user);
    const row = await table.get<{ expiresAt: number }>(keys.signInLink(hashOf(token)));
    expect(token).toMatch(/^[0-9A-Za-z]{32}$/);
    expect(JSON.stringify(row)).not.toContain(token);
    const minutes = ((row?.expiresAt ?? 0) - Date.now() / 1000) / 60;
    expect(minutes).toBeGreaterThan(14);
    expect(minutes).toBeLessThanOrEqual(15);
  });

  test("a removed user's link, even if another user has the address now", async () => {
    const { org, user, email } = await createUser();
    const token = await createToken(org, user);
    await admin("user remove", { org, user, force: true });
    expectInvalid(await redeem({ token }));
    await admin("user create", { org, email, role: "admin" });
    expectInvalid(await redeem({ token }));
  });

  test("a link to an organization that is being deleted", async () => {
    const { org, user } = await createUser("Gone");
    const token = await createToken(org, user);
    await admin("org delete", { org, name: "Gone" });
    expectInvalid(await redeem({ token }));
  });

  test("with an organization that the operator's link is not for", async () => {
    const { org, user, email } = await createUser();
    const other = await createOrganization();
    await admin("user create", { org: other.id, email, role: "admin" });
    const token = await createToken(org, user);
    expectInvalid(await redeem({ token, organizationId: other.id }));
    expect((await redeem({ token, organizationId: org })).status).toBe(201);
  });
});

describe("409 choose_organization", () => {
  test("for several organizations; the token stays good", async () => {
    const { org, email } = await createUser("First");
    const second = await createUser("Second");
    const { id: user } = await admin("user create", { org: second.org, email, role: "admin" });
    const stranger = await createOrganization();
    const token = await mailedToken(email);
    for (const _ of [1, 2]) {
      expectRefusal(await redeem({ token }), 409, /choose one/, {
        code: "choose_organization",
        organizations: [
          { id: org, name: "First" },
          { id: second.org, name: "Second" },
        ],
      } as object);
    }
    expectInvalid(await redeem({ token, organizationId: stranger.id }));
    const reply = await redeem({ token, organizationId: second.org });
    expect(reply).toMatchObject({
      status: 201,
      body: { user: { id: user, email }, organization: { id: second.org } },
    });
    expectInvalid(await redeem({ token, organizationId: org }));
  });

  test("not for one organization, nor by an operator's link", async () => {
    const { org, user, email } = await createUser("First");
    const second = await createUser("Second");
    const { id } = await admin("user create", { org: second.org, email, role: "admin" });
    expect((await redeem({ token: await createToken(org, user) })).status).toBe(201);
    await admin("user remove", { org: second.org, user: id });
    const reply = await redeem({ token: await mailedToken(email) });
    expect(reply).toMatchObject({ status: 201, body: { organization: { id: org } } });
  });
});

describe("POST /sign-in/links/lookup", () => {
  const lookUp = (token: unknown) => visitor().post("/sign-in/links/lookup", { token });

  test("200: address and organizations; the link stays good", async () => {
    const { org, user, email } = await createUser();
    const token = await createToken(org, user);
    const expected = { email, organizations: [{ id: org, name: "Acme" }] };
    for (const reply of [await lookUp(token), await lookUp(token)])
      expect(reply).toMatchObject({ status: 200, body: expected });
    expect((await redeem({ token })).status).toBe(201);
    expectInvalid(await lookUp(token));
  });

  test("200: all organizations of the address", async () => {
    const { org, email } = await createUser();
    const { id: other } = await createOrganization({ name: "Other" });
    await admin("user create", { org: other, email, role: "member" });
    const { body } = await lookUp(await mailedToken(email));
    expect(new Set((body.organizations as { id: number }[]).map(({ id }) => id))).toEqual(
      new Set([org, other]),
    );
  });

  test("401: foreign tokens, and a removed user's links", async () => {
    const { org, user } = await createUser();
    const token = await createToken(org, user);
    await admin("user create", { org, email: newAddress(), role: "admin" });
    await admin("user remove", { org, user });
    for (const each of [token, "A".repeat(32), "", 1]) expectInvalid(await lookUp(each));
  });
});
