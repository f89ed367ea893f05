import { randomUUID } from "node:crypto";
import type { APIGatewayProxyEvent, Context } from "aws-lambda";
import { describe, expect, test, vi } from "vitest";
import { handler as startScan } from "../../functions/start-scan/handler.ts";
import { toContext } from "../../shared/access/api/principal.ts";
import { keys, timeToLive } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import { publicUrl } from "../service/alert-channels.ts";
import type { Client, Reply } from "../service/client.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { countStatuses, expectRefusal } from "./reply.ts";

const post = (api: Client, path: string, key: string | string[], body?: unknown) =>
  api.request("POST", path, { headers: { "idempotency-key": key }, body });

const webhook = { channel: "webhook", config: { url: publicUrl, secret: "a secret of ours" } };

/** Each endpoint that takes the header: its client, path and body, and how many things of its kind there are. */
const repeatable: Record<string, (of: Organization) => Promise<Repeatable>> = {
  "an e-mail": async ({ api, domainId }) => ({
    client: api,
    path: "/emails",
    body: { email: "ada@demo.example", domainId },
    other: { email: "alan@demo.example", domainId },
    count: async () => (await api.get("/emails")).body.total,
  }),
  "an alert channel": async ({ api }) => ({
    client: api,
    path: "/alert-configs",
    body: webhook,
    other: { ...webhook, config: { url: publicUrl } },
    count: async () => (await api.get("/alert-configs")).body.configs,
  }),
  "an API key": async (organization) => {
    const { dashboard } = await signedIn(organization.id);
    return {
      client: dashboard,
      path: "/api-keys",
      body: { label: "Ours" },
      other: { label: "Theirs" },
      count: async () => (await dashboard.get("/api-keys")).body.apiKeys,
    };
  },
};

type Repeatable = {
  client: Client;
  path: string;
  body: unknown;
  other: unknown;
  count: () => Promise<unknown>;
};

test.each(Object.entries(repeatable))(
  "%s is created once, also at once; repetitions get its reply, another body 422",
  async (_, prepare) => {
    const { client, path, body, other, count } = await prepare(await createOrganization());
    const key = randomUUID();
    const replies = await Promise.all(Array.from({ length: 6 }, () => post(client, path, key, body)));
    expect(countStatuses(replies)).toEqual({ 201: 6 });
    const [first] = replies;
    for (const reply of replies) expect(reply.body).toEqual(first?.body);
    const isFirst = ({ headers }: Reply) => headers["idempotency-replayed"] === undefined;
    expect(replies.filter(isFirst)).toHaveLength(1);
    const created = await count();
    const again = await post(client, path, `"${key}"`, body);
    const headers = { "idempotency-replayed": "true" };
    expect(again).toMatchObject({ status: 201, headers, body: first?.body });
    expectRefusal(await post(client, path, key, other), 422, /another request has used it/);
    expect(await count()).toEqual(created);
  },
);

describe("a scan", () => {
  test("is started once, also when it has ended before the repetition", async () => {
    const { api, domainId } = await createOrganization();
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const key = randomUUID();
    const replies = await Promise.all(Array.from({ length: 4 }, () => post(api, "/scans", key)));
    expect(countStatuses(replies)).toEqual({ 201: 4 });
    expect(new Set(replies.map(({ body }) => body.scanJobId)).size).toBe(1);
    expect((await api.get("/scans")).body.total).toBe(1);
  });

  test("that could not be queued is started by a repetition", async () => {
    const { id: org, keyId, domainId, api } = await createOrganization();
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const key = randomUUID();
    const event = {
      httpMethod: "POST",
      path: "/v1/scans",
      multiValueHeaders: { "Idempotency-Key": [key] },
      requestContext: {
        authorizer: toContext({
          organizationId: org,
          actor: { type: "api_key", id: keyId, label: "Test key" },
        }),
      },
    };
    vi.stubEnv("SCAN_PLANS_QUEUE_URL", `${process.env.DELIVERIES_QUEUE_URL}-that-is-not-there`);
    const refused = await startScan(event as unknown as APIGatewayProxyEvent, {} as Context);
    vi.unstubAllEnvs();
    expect(refused.statusCode).toBe(500);
    expect(JSON.parse(refused.body).error).toMatch(/could not be queued/);
    const again = await post(api, "/scans", key);
    expect(again.status).toBe(201);
    expect(again.headers).not.toHaveProperty("idempotency-replayed");
    expect((await api.get("/scans")).body.scans).toMatchObject([
      { id: again.body.scanJobId },
      { status: "failed" },
    ]);
  });
});

describe("the header", () => {
  test("400 unless it is one value of 16 to 255 characters, without effect", async () => {
    const { api, domainId } = await createOrganization();
    const wrong = ["", "short", "with spaces in its midst", "ü".repeat(20), "x".repeat(256)];
    for (const key of [
      ...wrong.map((each) => Buffer.from(each).toString("latin1")),
      [randomUUID(), randomUUID()],
    ]) {
      const reply = await post(api, "/emails", key, { email: "ada@demo.example", domainId });
      expectRefusal(reply, 400, /^Idempotency-Key: must be one value of 16 to 255/);
    }
    expect((await api.get("/emails")).body.total).toBe(0);
  });

  test("counts separately for each organization and for each actor in it", async () => {
    const [one, other] = [await createOrganization(), await createOrganization()];
    const key = randomUUID();
    const first = await post(one.api, "/alert-configs", key, webhook);
    const second = await post(other.api, "/alert-configs", key, webhook);
    const { v1 } = await signedIn(one.id);
    const third = await post(v1, "/alert-configs", key, webhook);
    expect(new Set([first, second, third].map(({ body }) => body.id)).size).toBe(3);
    await admin("key revoke", { org: one.id, key: one.keyId });
    expect((await post(one.api, "/alert-configs", key, webhook)).status).toBe(401);
  });

  test("of a request that was refused can be used again", async () => {
    const { api, domainId } = await createOrganization();
    const key = randomUUID();
    expectRefusal(await post(api, "/scans", key), 400, /no active monitored emails/);
    await api.post("/emails", { email: "ada@demo.example", domainId });
    expect((await post(api, "/scans", key)).status).toBe(201);
  });

  test("is forgotten after 24 hours, even if its row is still there", async () => {
    const { id: org, api } = await createOrganization();
    const key = randomUUID();
    const first = await post(api, "/alert-configs", key, webhook);
    const [row] = await table.query<{ pk: string; sk: string; expiresAt: number }>({
      pk: keys.idempotencyKey(org, "").pk,
    });
    if (row === undefined) throw new Error("The reply was not kept");
    const day = Date.now() / 1000 + 24 * 3600;
    expect(Math.abs(row.expiresAt - day)).toBeLessThan(60);
    await table.update(row, { set: { [timeToLive]: Math.floor(Date.now() / 1000) - 1 } });
    const second = await post(api, "/alert-configs", key, webhook);
    expect(second).toMatchObject({ status: 201, body: { id: expect.any(Number) } });
    expect(second.body.id).not.toBe(first.body.id);
  });

  test("without the header's value nobody can read a new API key in the table", async () => {
    const organization = await createOrganization();
    const { dashboard } = await signedIn(organization.id);
    const { body } = await post(dashboard, "/api-keys", randomUUID(), { label: "Ours" });
    const rows = await table.query({ pk: keys.idempotencyKey(organization.id, "").pk });
    expect(rows).toHaveLength(1);
    const bytes = Buffer.from((rows[0] as { reply: Uint8Array }).reply);
    expect(bytes.toString("latin1")).not.toContain(String(body.key));
    expect(bytes.toString("latin1")).not.toContain("Ours");
  });
});
