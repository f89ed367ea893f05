import { describe, expect, test } from "vitest";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { createOrganization } from "../service/organization.ts";
import { createSession, signedIn } from "./signed-in.ts";

describe("200", () => {
  test("ends one of the user's own sessions on the very next request; again succeeds", async () => {
    const { id: org } = await createOrganization();
    const one = await signedIn(org);
    const other = await createSession(org, { id: one.userId, email: one.email });
    const reply = await one.dashboard.delete(`/sessions/${other.sessionId}`);
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
    expect((await other.dashboard.get("/session")).status).toBe(401);
    const again = await one.dashboard.delete(`/sessions/${other.sessionId}`);
    expect(again).toMatchObject({ status: 200, body: { success: true } });
    expect((await other.dashboard.get("/session")).status).toBe(401);
    expect((await one.dashboard.get("/sessions")).body).toMatchObject({ total: 1 });
  });
});

describe("404", () => {
  test("an unknown id, and sessions of other users and organizations, which go on", async () => {
    const { id: org } = await createOrganization();
    const { dashboard } = await signedIn(org);
    const colleague = await signedIn(org);
    const stranger = await signedIn((await createOrganization()).id);
    for (const id of [unknownId, colleague.sessionId, stranger.sessionId]) {
      expectRefusal(await dashboard.delete(`/sessions/${id}`), 404, /No session of yours/);
    }
    for (const each of [colleague, stranger]) {
      expect((await each.dashboard.get("/session")).status).toBe(200);
    }
  });
});
