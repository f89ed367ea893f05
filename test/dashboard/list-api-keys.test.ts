import { beforeAll, describe, expect, test } from "vitest";
import { expectEveryHeader, expectRefusal, timestamp } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let organization: Organization;
let user: SignedIn;
beforeAll(async () => {
  organization = await createOrganization();
  user = await signedIn(organization.id);
});
const list = async (query = "") => (await user.dashboard.get(`/api-keys${query}`)).body;

describe("200", () => {
  test("lists keys newest first, with who created them and when they were last used", async () => {
    const { id: org, key, keyId, api } = organization;
    const created = await user.dashboard.post("/api-keys", { label: "CI" });
    const { id: revoked } = await admin("key create", { org, label: "Old" });
    await admin("key revoke", { org, key: revoked });
    await api.get("/emails");
    const reply = await user.dashboard.get("/api-keys");
    expectEveryHeader(reply);
    const { key: secret, ...fields } = created.body;
    expect(reply.body).toEqual({
      apiKeys: [
        {
          id: revoked,
          label: "Old",
          preview: expect.stringMatching(/^bms_/),
          createdAt: timestamp,
          createdBy: null,
          lastUsedAt: null,
          revokedAt: timestamp,
        },
        { ...fields, createdBy: { id: user.userId, label: user.email } },
        {
          id: keyId,
          label: "Test key",
          preview: key.slice(0, 16),
          createdAt: timestamp,
          createdBy: null,
          lastUsedAt: timestamp,
          revokedAt: null,
        },
      ],
      total: 3,
    });
    expect(JSON.stringify(reply.body)).not.toContain((secret as string).slice(0, 20));
  });

  test("notes the use of a key at most once an hour", async () => {
    const lastUsedAt = async () =>
      ((await list("?limit=100")).apiKeys as { id: number; lastUsedAt: string }[]).find(
        ({ id }) => id === organization.keyId,
      )?.lastUsedAt;
    await organization.api.get("/emails");
    const before = await lastUsedAt();
    await organization.api.get("/emails");
    expect(await lastUsedAt()).toBe(before);
    expect(Date.now() - Date.parse(before ?? "")).toBeLessThan(60_000);
  });

  test("has pages with the exact total", async () => {
    expect(await list("?limit=1&offset=1")).toMatchObject({ apiKeys: [{ label: "CI" }], total: 3 });
    expect(await list("?offset=10")).toEqual({ apiKeys: [], total: 3 });
  });
});

describe("400", () => {
  test.each(["limit=0", "limit=101", "offset=-1", "limit=x"])("refuses %s", async (query) => {
    expectRefusal(await user.dashboard.get(`/api-keys?${query}`), 400, /limit|offset/);
  });
});
