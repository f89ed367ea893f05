import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { hashOf, mintApiKey } from "../../shared/access/keys/secret.ts";
import { dashboardUrl, signedIn } from "../dashboard/signed-in.ts";
import { admin } from "../service/admin.ts";
import { addBreachedEmail, createChannel, inboxOf, listDeliveries } from "../service/alert-channels.ts";
import { createClient } from "../service/client.ts";
import { eventually } from "../service/eventually.ts";
import { readLogs } from "../service/local-stack.ts";
import { createOrganization } from "../service/organization.ts";
import { scan } from "../service/scan.ts";

test("logs never hold a secret or an e-mail address", async () => {
  const organization = await createOrganization();
  const { id, api, domainId, key } = organization;
  const user = await signedIn(organization.id);
  const unknownKey = mintApiKey(id);
  const config = { url: "https://192.0.32.8/PATH-OF-THE-HOOK", secret: "SECRET-OF-THE-HOOK" };
  const email = `log-${id}@demo.example`;
  await api.post("/emails", { email, domainId, ownerName: "OWNER-NAME" });
  await api.post("/emails", { email, domainId });
  const webhookUrl = `${inboxOf(organization, "slack")}?status=500`;
  const slack = await createChannel(api, { channel: "slack", config: { webhookUrl } });
  const recipients = [`security-${id}@acme.example`];
  const mail = await createChannel(api, { channel: "email", config: { recipients } });
  await addBreachedEmail(organization, { ownerName: "OWNER-OF-BREACHED" });
  await api.post("/alert-configs", { channel: "webhook", config });
  await api.post("/alert-configs", { channel: "webhook", config: { url: "http://10.0.0.1/REFUSED-URL" } });
  await user.v1.get("/emails?limit=QUERY-VALUE");
  await createClient({ authorization: `Bearer ${unknownKey}` }).get("/emails");
  await createClient({ cookie: `${user.cookie}x` }).get("/emails");
  await scan(api);
  for (const [channel, status] of [
    [slack, "retrying"],
    [mail, "delivered"],
  ] as const) {
    await eventually(
      () => listDeliveries(organization, channel),
      ([first]) => first?.status === status,
    );
  }
  await api.get("/breaches");
  const last = await api.get("/nothing");

  const logs = await eventually(readLogs, (text) => text.includes(String(last.headers["x-request-id"])));
  const session = user.cookie.slice("session=".length);
  for (const secret of [
    key,
    unknownKey,
    session,
    hashOf(key),
    hashOf(session),
    "PATH-OF-THE-HOOK",
    "SECRET-OF-THE-HOOK",
    "REFUSED-URL",
    "QUERY-VALUE",
    "OWNER-NAME",
    "OWNER-OF-BREACHED",
    "ada@demo.example",
    "acme.example",
    email,
  ]) {
    expect(logs.includes(secret), secret.slice(0, 12)).toBe(false);
  }
});

test("a short webhook secret is accepted, and the log has a warning without the secret", async () => {
  const { id: org, api } = await createOrganization();
  const url = "https://192.0.32.8/hook";
  const create = async (secret: string) =>
    createChannel(api, { channel: "webhook", config: { url, secret } });
  const [short, long] = [await create("15-CHARACTERS-x"), await create("16-CHARACTERS-xy")];
  expect((await api.patch(`/alert-configs/${long}`, { config: { secret: "S3CR3T" } })).status).toBe(200);
  const unsigned = await create("");
  const enough = await create("17-CHARACTERS-xyz");

  const warned = async () =>
    (await readLogs())
      .split("\n")
      .filter((line) => line.includes("short webhook secret") && line.includes(`"organizationId":${org}`));
  const lines = await eventually(warned, (found) => found.length >= 2);
  const channels = lines.map((line) => JSON.parse(line.slice(line.indexOf("{"))).channelId);
  expect(channels.sort()).toEqual([short, long].sort());
  expect(channels).not.toContain(unsigned);
  expect(channels).not.toContain(enough);
  expect(await readLogs()).not.toMatch(/1[567]-CHARACTERS|S3CR3T/);
});

test("each request has a line with its organization and actor, also a refused one", async () => {
  const organization = await createOrganization();
  const { id: org, api, key } = organization;
  const user = await signedIn(organization.id);
  const keyLine = { organizationId: org, actorType: "api_key", actorId: expect.any(Number) };
  const userLine = { organizationId: org, actorType: "user", actorId: expect.any(Number) };
  const stranger = createClient({ authorization: `Bearer ${mintApiKey(org)}` });
  const dashboard = createClient({ authorization: `Bearer ${key}` }, dashboardUrl());
  const lineOf = async (reply: { headers: Record<string, unknown> }): Promise<Record<string, unknown>> => {
    const id = `"extendedRequestId":"${reply.headers["x-request-id"]}"`;
    const logs = await eventually(readLogs, (text) => text.includes(id));
    const line = logs.split("\n").find((each) => each.includes(id)) ?? "";
    return JSON.parse(line.slice(line.indexOf("{")));
  };

  const served = await lineOf(await api.get("/emails"));
  expect(served).toMatchObject({ status: 200, ...keyLine });
  expect(await lineOf(await user.v1.get("/emails"))).toMatchObject({ status: 200, ...userLine });
  const nothing = { message: "request", method: "GET", status: 404, refusal: "notFound" };
  const line = await lineOf(await api.get("/nothing"));
  expect(line).toMatchObject({ ...nothing, ...keyLine, milliseconds: expect.any(Number) });
  expect(await lineOf(await api.get("/emails?limit=x"))).toMatchObject({ status: 400, ...keyLine });
  expect(await lineOf(await dashboard.get("/overview"))).toMatchObject({ status: 403, ...keyLine });
  // A client can choose only one of the two ids of a request.
  const chosen = randomUUID();
  const named = await api.request("GET", "/emails", {
    headers: { authorization: `Bearer ${key}`, "x-amzn-requestid": chosen },
  });
  expect(named.headers["x-request-id"]).not.toContain(chosen);
  expect(await lineOf(named)).toMatchObject({ status: 200, requestId: chosen });
  // The authorizer's line: no endpoint sees these.
  const unknown = await lineOf(await stranger.get("/emails"));
  expect(unknown).toMatchObject({ status: 401, refusal: "unauthenticated", claimedOrganizationId: org });
  expect(unknown).not.toHaveProperty("organizationId");
  const { actorId } = served;
  await admin("key revoke", { org, key: Number(actorId) });
  const revoked = await lineOf(await api.get("/emails"));
  expect(revoked).toMatchObject({
    status: 401,
    ...keyLine,
    actorId,
    route: expect.stringContaining("emails"),
  });
  const nobody = await lineOf(await createClient({}).get("/emails"));
  expect(nobody).toMatchObject({ message: "request", status: 401, method: "GET" });
  expect(nobody).not.toHaveProperty("claimedOrganizationId");
});
