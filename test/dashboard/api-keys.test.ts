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
    access: "full",
    expiresAt: null,
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
  const unlimited = { access: "full", expiresAt: null };
  const byOperator = {
    ...unlimited,
    createdAt: timestamp,
    createdBy: null,
    lastUsedAt: null,
    revokedAt: null,
  };
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

test("access and end of a key are chosen when it is created, listed and logged", async () => {
  const { id: org, user } = await create();
  const ends = "2031-01-01T01:00:00+01:00";
  const expiresAt = "2031-01-01T00:00:00.000Z";
  const limited = { access: "read", expiresAt };
  const reply = await user.dashboard.post("/api-keys", { label: "SIEM", access: "read", expiresAt: ends });
  expect(reply).toMatchObject({ status: 201, body: limited });
  const made = await admin("key create", { org, label: "Audit", access: "read", "expires-at": ends });
  expect(made).toMatchObject(limited);
  const { apiKeys } = (await user.dashboard.get("/api-keys?limit=2")).body;
  expect(apiKeys).toMatchObject([
    { label: "Audit", ...limited },
    { label: "SIEM", ...limited },
  ]);
  expect(await admin("key list", { org })).toMatchObject({
    keys: [
      { label: "Audit", ...limited },
      { label: "SIEM", ...limited },
      { access: "full", expiresAt: null },
    ],
  });
  const [entry] = await activity(user.v1, "api_key.created");
  expect(entry?.summary).toBe(`Created the API key Audit, which only reads, until ${expiresAt}`);
  const past = admin("key create", { org, label: "Late", "expires-at": "2020-01-01T00:00:00Z" });
  await expect(past).rejects.toThrow("--expires-at: must be in the future.");
});
