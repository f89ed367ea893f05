import { describe, expect, test } from "vitest";
import { expectRefusal, timestamp } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { browserWith, createSession, createToken, signedIn, visitor } from "./signed-in.ts";

describe("200", () => {
  test("the user's own sessions in this organization, newest first, by page", async () => {
    const { id: org } = await createOrganization();
    const first = await signedIn(org);
    const user = { id: first.userId, email: first.email };
    const [second, third] = [await createSession(org, user), await createSession(org, user)];
    await signedIn(org);
    const elsewhere = await createOrganization();
    await signedIn(elsewhere.id, { email: first.email });

    const reply = await second.dashboard.get("/sessions");
    const shown = (id: number) => ({
      id,
      createdAt: timestamp,
      lastUsedAt: timestamp,
      expiresAt: timestamp,
      isCurrent: id === second.sessionId,
      createdBy: "operator",
    });
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({
      sessions: [third, second, first].map(({ sessionId }) => shown(sessionId)),
      total: 3,
      passkeys: [],
    });
    expect((await second.dashboard.get("/sessions?limit=1&offset=1")).body).toEqual({
      sessions: [shown(second.sessionId)],
      total: 3,
      passkeys: [],
    });
    expect((await second.dashboard.get("/sessions?offset=7")).body).toMatchObject({ sessions: [], total: 3 });
  });
});

test("a session of who signed in with a link says so, and in which browser", async () => {
  const { id: org } = await createOrganization();
  const email = `signed-in-${org}@demo.example`;
  const { id } = await admin("user create", { org, email });
  const token = await createToken(org, id);
  const firefox = { "user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Firefox/140.0" };
  const reply = await visitor(firefox).post("/sign-in/sessions", { token });
  const [cookie = ""] = String(reply.headers["set-cookie"]).split(";");
  const { body } = await browserWith(cookie).dashboard.get("/sessions");
  expect(body).toMatchObject({
    sessions: [{ isCurrent: true, createdBy: "user", browser: "Firefox on Windows" }],
    total: 1,
  });
});

describe("400", () => {
  test("a page that is none", async () => {
    const { id: org } = await createOrganization();
    const { dashboard } = await signedIn(org);
    expectRefusal(await dashboard.get("/sessions?limit=101"), 400, /^limit/);
  });
});
