import { expect, test } from "vitest";
import { expectEveryHeader, expectRefusal, timestamp, unknownId } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { createSession, signedIn, visitor } from "./signed-in.ts";

const create = async (name = "Acme") => {
  const { id: org } = await createOrganization({ name });
  const one = await signedIn(org, { role: "member" });
  const another = () => createSession(org, { id: one.userId, email: one.email });
  return { org, one, another };
};

const statusOf = async ({ dashboard }: Awaited<ReturnType<typeof signedIn>>) =>
  (await dashboard.get("/session")).status;

test("GET /session: who is signed in, where, and until when", async () => {
  const { org, one } = await create();
  const { dashboard, userId, email, sessionId } = one;
  const reply = await dashboard.get("/session");
  expectEveryHeader(reply);
  expect(reply).toMatchObject({ status: 200 });
  expect(reply.body).toEqual({
    user: { id: userId, email, name: null, role: "member" },
    organization: { id: org, name: "Acme", billing: { status: "active", reason: null } },
    session: { id: sessionId, createdAt: timestamp, expiresAt: timestamp },
  });
  const { createdAt, expiresAt } = reply.body.session as { createdAt: string; expiresAt: string };
  const days = (Date.parse(expiresAt) - Date.parse(createdAt)) / 86_400_000;
  expect(days).toBeGreaterThan(6.99);
  expect(days).toBeLessThanOrEqual(7);
});

test("/session of a lapsed subscription tells each reason, and can be ended", async () => {
  const { org, one } = await create();
  for (const status of [
    "trial_expired",
    "subscription_inactive",
    "price_not_recognized",
    "collection_paused",
  ]) {
    await admin("org billing", { org, status });
    const organization = { billing: { status, reason: status } };
    expect(await one.dashboard.get("/session")).toMatchObject({ status: 200, body: { organization } });
  }
  expect((await one.dashboard.delete("/session")).status).toBe(200);
  expect(await statusOf(one)).toBe(401);
});

test("DELETE /session: the very next request is refused; other sessions go on", async () => {
  const { one, another } = await create();
  const other = await another();
  const reply = await one.dashboard.delete("/session");
  expect(reply).toMatchObject({ status: 200, body: { success: true } });
  expect(reply.headers["set-cookie"]).toBe("session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax");
  expectRefusal(await one.dashboard.get("/session"), 401, /API key or session/);
  expectRefusal(await one.v1.get("/emails"), 401, /API key or session/);
  expect(await statusOf(other)).toBe(200);
});

test("DELETE /session: 403 from another site, and the session goes on", async () => {
  const { one } = await create();
  const { cookie } = one;
  for (const headers of [{ cookie }, { cookie, origin: "https://attacker.example" }]) {
    expectRefusal(await visitor(headers).delete("/session"), 403, /own origin/);
  }
  expect(await statusOf(one)).toBe(200);
});

test("GET /sessions: the user's own in this organization, newest first, by page", async () => {
  const { org, one, another } = await create();
  const [two, three] = [await another(), await another()];
  await signedIn(org);
  await signedIn((await createOrganization()).id, { email: one.email });
  const shown = ({ sessionId: id }: typeof one) => ({
    id,
    createdAt: timestamp,
    lastUsedAt: timestamp,
    expiresAt: timestamp,
    isCurrent: id === two.sessionId,
    createdBy: "operator",
  });
  const list = async (query = "") => (await two.dashboard.get(`/sessions${query}`)).body;
  expect(await list()).toEqual({ sessions: [three, two, one].map(shown), total: 3, passkeys: [] });
  expect(await list("?limit=1&offset=1")).toEqual({ sessions: [shown(two)], total: 3, passkeys: [] });
  expect(await list("?offset=7")).toMatchObject({ sessions: [], total: 3 });
});

test("DELETE /sessions/{id}: an own one ends at once, again succeeds; others' are 404", async () => {
  const { org, one, another } = await create();
  const other = await another();
  for (const _ of ["first", "again"]) {
    const reply = await one.dashboard.delete(`/sessions/${other.sessionId}`);
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
    expect(await statusOf(other)).toBe(401);
  }
  expect((await one.dashboard.get("/sessions")).body).toMatchObject({ total: 1 });
  const colleague = await signedIn(org);
  for (const id of [unknownId, colleague.sessionId])
    expectRefusal(await one.dashboard.delete(`/sessions/${id}`), 404, /No session of yours/);
  expect(await statusOf(colleague)).toBe(200);
});

test("DELETE /sessions: the user's other ones here end, and nobody else's", async () => {
  const { org, one, another } = await create();
  const others = [await another(), await another()];
  const colleague = await signedIn(org);
  const elsewhere = await signedIn((await createOrganization()).id, { email: one.email });
  for (const _ of ["first", "again"]) {
    const reply = await one.dashboard.delete("/sessions");
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
  }
  for (const each of others) expect(await statusOf(each)).toBe(401);
  for (const each of [one, colleague, elsewhere]) expect(await statusOf(each)).toBe(200);
  expect((await one.dashboard.get("/sessions")).body).toMatchObject({ total: 1 });
});
