import { describe, expect, test } from "vitest";
import { expectRefusal } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createOrganization } from "../service/organization.ts";
import { createSession, signedIn, visitor } from "./signed-in.ts";

describe("200", () => {
  test("the very next request is refused, everywhere; other sessions go on", async () => {
    const { id: org } = await createOrganization();
    const { dashboard, v1, userId, email } = await signedIn(org);
    const other = await createSession(org, { id: userId, email });
    const reply = await dashboard.delete("/session");
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
    expect(reply.headers["set-cookie"]).toBe("session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax");
    expectRefusal(await dashboard.get("/session"), 401, /API key or session/);
    expectRefusal(await v1.get("/emails"), 401, /API key or session/);
    expect((await other.dashboard.get("/session")).status).toBe(200);
  });

  test("also when the subscription lapsed", async () => {
    const { id: org } = await createOrganization();
    const { dashboard } = await signedIn(org);
    await admin("org billing", { org, status: "collection_paused" });
    expect((await dashboard.delete("/session")).status).toBe(200);
    expect((await dashboard.get("/session")).status).toBe(401);
  });
});

describe("403", () => {
  test("from another site: the session goes on", async () => {
    const { id: org } = await createOrganization();
    const { dashboard, cookie } = await signedIn(org);
    for (const headers of [{ cookie }, { cookie, origin: "https://attacker.example" }]) {
      expectRefusal(await visitor(headers).delete("/session"), 403, /own origin/);
    }
    expect((await dashboard.get("/session")).status).toBe(200);
  });
});
