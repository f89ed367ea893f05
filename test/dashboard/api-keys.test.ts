import { expect, test } from "vitest";
import { timestamp } from "../endpoints/reply.ts";
import { admin } from "../service/admin.ts";
import { createClient } from "../service/client.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { activity } from "./activity.ts";
import { mailsTo } from "./outbox.ts";
import { signedIn } from "./signed-in.ts";

const create = async () => {
  const organization = await createOrganization();
  return { ...organization, user: await signedIn(organization.id) };
};

test("POST 201 gives the key, this once, which works at once", async () => {
  const { user } = await create();
  const reply = await user.dashboard.post("/api-keys", { label: " Nightly job " });
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

test("POST 201 tells every admin by e-mail, without the key", async () => {
  const { id: org, user } = await create();
  const other = await signedIn(org);
  const { body } = await user.dashboard.post("/api-keys", { label: "Backup" });
  const told = new RegExp(`${user.email} created the API key "Backup"`);
  for (const { email } of [user, other]) {
    const mails = await eventually(
      () => mailsTo(email),
      (all) => all.some((mail) => told.test(mail)),
    );
    expect(mails.join("\n")).not.toContain(body.key);
  }
});

test("GET lists keys newest first and by page, without the keys themselves", async () => {
  const { id: org, key, keyId, api, user } = await create();
  const created = await user.dashboard.post("/api-keys", { label: "CI" });
  const { id: revoked } = await admin("key create", { org, label: "Old" });
  await admin("key revoke", { org, key: revoked });
  await api.get("/emails");
  const reply = await user.dashboard.get("/api-keys");
  const { key: secret, ...fields } = created.body;
  const byOperator = { createdAt: timestamp, createdBy: null, lastUsedAt: null, revokedAt: null };
  expect(reply.body).toEqual({
    apiKeys: [
      {
        ...byOperator,
        id: revoked,
        label: "Old",
        preview: expect.stringMatching(/^bms_/),
        revokedAt: timestamp,
      },
      fields,
      { ...byOperator, id: keyId, label: "Test key", preview: key.slice(0, 16), lastUsedAt: timestamp },
    ],
    total: 3,
  });
  expect(JSON.stringify(reply.body)).not.toContain((secret as string).slice(0, 20));
  const page = async (query: string) => (await user.dashboard.get(`/api-keys?${query}`)).body;
  expect(await page("limit=1&offset=1")).toMatchObject({ apiKeys: [{ label: "CI" }], total: 3 });
  expect(await page("offset=10")).toEqual({ apiKeys: [], total: 3 });
  // The use of a key is noted at most once an hour.
  await api.get("/emails");
  expect((await page("")).apiKeys).toEqual(reply.body.apiKeys);
});
