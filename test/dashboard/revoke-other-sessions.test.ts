import { describe, expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { createSession, signedIn } from "./signed-in.ts";

describe("200", () => {
  test("ends the user's other sessions here, and nobody else's", async () => {
    const { id: org } = await createOrganization();
    const one = await signedIn(org);
    const user = { id: one.userId, email: one.email };
    const others = [await createSession(org, user), await createSession(org, user)];
    const colleague = await signedIn(org);
    const elsewhere = await signedIn((await createOrganization()).id, { email: one.email });
    for (const _ of ["first", "again"]) {
      const reply = await one.dashboard.delete("/sessions");
      expect(reply).toMatchObject({ status: 200, body: { success: true } });
    }
    for (const { dashboard } of others) expect((await dashboard.get("/session")).status).toBe(401);
    for (const { dashboard } of [one, colleague, elsewhere]) {
      expect((await dashboard.get("/session")).status).toBe(200);
    }
    expect((await one.dashboard.get("/sessions")).body).toMatchObject({ total: 1 });
  });
});
