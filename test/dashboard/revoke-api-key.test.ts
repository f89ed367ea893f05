import { beforeAll, describe, expect, test } from "vitest";
import { expectRefusal, unknownId } from "../endpoints/reply.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
beforeAll(async () => {
  organization = await createOrganization();
  user = await signedIn(organization.id);
});

describe("200", () => {
  test("refuses the very next request with the key; again succeeds and is not logged", async () => {
    const { api, keyId } = organization;
    expect((await api.get("/emails")).status).toBe(200);
    const reply = await user.dashboard.delete(`/api-keys/${keyId}`);
    expect(reply).toMatchObject({ status: 200, body: { success: true } });
    expect((await api.get("/emails")).status).toBe(401);
    expect((await user.dashboard.delete(`/api-keys/${keyId}`)).body).toEqual({ success: true });
    expect(await activity(user.v1, "api_key.revoked")).toMatchObject([{ actor: { type: "user" } }]);
    const { body } = await user.dashboard.get("/api-keys");
    expect(body).toMatchObject({ total: 1, apiKeys: [{ id: keyId, revokedAt: expect.any(String) }] });
  });
});

describe("404", () => {
  test("an unknown id", async () =>
    expectRefusal(await user.dashboard.delete(`/api-keys/${unknownId}`), 404, /No API key/));
});

describe("400", () => {
  test.each(["x", "0", "01", "1.5"])("refuses the id %s", async (id) => {
    expectRefusal(await user.dashboard.delete(`/api-keys/${id}`), 400, /^id/);
  });
});
