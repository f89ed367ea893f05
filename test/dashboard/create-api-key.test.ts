import { beforeAll, describe, expect, test } from "vitest";
import { expectEveryHeader, expectRefusal, timestamp } from "../endpoints/reply.ts";
import { createClient } from "../service/client.ts";
import { createOrganization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { type SignedIn, signedIn } from "./signed-in.ts";

let user: SignedIn;
beforeAll(async () => {
  user = await signedIn((await createOrganization()).id);
});

describe("201", () => {
  test("gives the key, this once, which works at once", async () => {
    const reply = await user.dashboard.post("/api-keys", { label: " Nightly job " });
    expectEveryHeader(reply);
    expect(reply.status).toBe(201);
    const { key, ...item } = reply.body as { key: string; id: number };
    expect(item).toEqual({
      id: expect.any(Number),
      label: "Nightly job",
      preview: key.slice(0, 16),
      createdAt: timestamp,
      createdBy: { id: user.userId, label: user.email },
      lastUsedAt: null,
      revokedAt: null,
    });
    expect((await createClient({ authorization: `Bearer ${key}` }).get("/emails")).status).toBe(200);
    expect(await activity(user.v1, "api_key.created")).toMatchObject([
      { category: "api_keys", summary: "Created the API key Nightly job", actor: { type: "user" } },
      { actor: { type: "system" } },
    ]);
  });
});

describe("400", () => {
  test.each([{}, { label: "" }, { label: "  " }, { label: "x".repeat(101) }, { label: 1 }])(
    "refuses %j",
    async (body) => {
      expectRefusal(await user.dashboard.post("/api-keys", body), 400, /^label: /);
    },
  );
});
