import { beforeAll, describe, expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import { admin } from "../service/admin.ts";
import {
  createChannel,
  expectSignedWith,
  findChannel,
  inboxOf,
  publicUrl,
} from "../service/alert-channels.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { type Received, receivedAt, waitForRequests } from "../service/receiver.ts";
import { expectRefusal } from "./reply.ts";

const flags = {
  isEnabled: true,
  notifyOnNewBreach: true,
  notifyOnScanComplete: false,
  notifyOnScanError: true,
};

describe("200", () => {
  test("changes each of the create fields alone, and leaves the others unchanged", async () => {
    const { id: organizationId, api } = await createOrganization();
    const config = { url: publicUrl, secret: "s3cr3t-of-the-hook" };
    const id = await createChannel(api, { channel: "webhook", config });
    let expected: Record<string, unknown> = {
      id,
      organizationId,
      channel: "webhook",
      config: { urlPreview: "https://192.0.32.8/...", hasSecret: true },
      ...flags,
    };
    expect(await findChannel(api, id)).toEqual(expected);
    for (const [flag, value] of Object.entries(flags)) {
      const reply = await api.patch(`/alert-configs/${id}`, { [flag]: !value });
      expect(reply).toMatchObject({ status: 200, body: { ok: true } });
      expect(Object.keys(reply.body)).toEqual(["ok"]);
      expected = { ...expected, [flag]: !value };
      expect(await findChannel(api, id)).toEqual(expected);
    }
    const moved = await api.patch(`/alert-configs/${id}`, { config: { url: "https://192.0.32.8:8443" } });
    expect(moved.status).toBe(200);
    expect(await findChannel(api, id)).toEqual({
      ...expected,
      config: { urlPreview: "https://192.0.32.8:8443", hasSecret: true },
    });
  });

  test("the preview of another url is refused as a url", async () => {
    const { api } = await createOrganization();
    const id = await createChannel(api, { channel: "webhook", config: { url: "https://192.0.32.8" } });
    const config = { url: "https://192.0.32.9/..." };
    const expected = { status: 400, body: { error: "config.url: is only the preview of a url" } };
    expect(await api.patch(`/alert-configs/${id}`, { config })).toMatchObject(expected);
    expect(await api.post("/alert-configs", { channel: "webhook", config })).toMatchObject(expected);
    expect((await findChannel(api, id))?.config).toMatchObject({ urlPreview: "https://192.0.32.8" });
  });

  test("secret and url: omitted they stay, new ones count, and a preview is no url", async () => {
    const organization = await createOrganization();
    const { id: org, api } = organization;
    const [inbox, moved] = [inboxOf(organization, "secret"), inboxOf(organization, "moved")];
    const id = await createChannel(api, { channel: "webhook", config: { url: inbox, secret: "first" } });
    const shown = await findChannel(api, id);
    const url = shown?.config.urlPreview;
    expect(url).toBe(`${new URL(inbox).origin}/...`);
    const patch = async (change: Record<string, unknown>, hasSecret = true) => {
      expect((await api.patch(`/alert-configs/${id}`, change)).status).toBe(200);
      expect((await findChannel(api, id))?.config.hasSecret).toBe(hasSecret);
    };
    /** Has a delivery sent, which is the only one that an inbox has got since. */
    const counts = new Map<string, number>();
    const expectSent = async (to: string, secret: string | undefined) => {
      await admin("channel test", { org, channel: id });
      const count = (counts.get(to) ?? 0) + 1;
      counts.set(to, count);
      expectSignedWith((await waitForRequests(to, count)).at(-1) as Received, secret);
    };
    await patch({ notifyOnScanError: true, config: {} });
    await patch({ config: { url } });
    // The whole channel as it is listed.
    await patch({ ...shown });
    expect(await findChannel(api, id)).toEqual(shown);
    await expectSent(inbox, "first");
    await patch({ config: { url, secret: "sécond 🔑" } });
    await expectSent(inbox, "sécond 🔑");
    await patch({ config: { url: moved } });
    await expectSent(moved, "sécond 🔑");
    await patch({ config: { secret: "" } }, false);
    await expectSent(moved, undefined);
    await patch({ config: { secret: "third" } });
    await expectSent(moved, "third");
    expect(await receivedAt(inbox)).toHaveLength(2);
    expect(await receivedAt(`${new URL(inbox).origin}/...`)).toEqual([]);
  });

  test("changes the channel with a full config, and keeps nothing of the old config", async () => {
    const { api } = await createOrganization();
    const config = { url: publicUrl, secret: "s3cr3t-of-the-hook" };
    const id = await createChannel(api, { channel: "webhook", config, notifyOnNewBreach: false });
    const expectChanged = async (body: Record<string, unknown>, shown: Record<string, unknown>) => {
      expect((await api.patch(`/alert-configs/${id}`, body)).status).toBe(200);
      expect((await findChannel(api, id))?.config).toEqual(shown);
    };
    const recipients = ["a@acme.example"];
    await expectChanged({ channel: "email", config: { recipients } }, { recipients });
    expect(await findChannel(api, id)).toMatchObject({ channel: "email", notifyOnNewBreach: false });
    const written = [" Security@Acme.example ", "b@acme.example"];
    const shown = ["Security@Acme.example", "b@acme.example"];
    await expectChanged({ config: { recipients: written } }, { recipients: shown });
    const slack = { channel: "slack", config: { webhookUrl: publicUrl } };
    await expectChanged(slack, { hasWebhookUrl: true });
    const webhookUrl = "https://192.0.32.9/services/T0KEN";
    await expectChanged({ config: { webhookUrl } }, { hasWebhookUrl: true });
    expect(JSON.stringify(await api.get("/alert-configs"))).not.toContain("T0KEN");
    const webhook = { channel: "webhook", config: { url: publicUrl } };
    await expectChanged(webhook, { urlPreview: "https://192.0.32.8/...", hasSecret: false });
  });

  test("changes of different fields at the same instant are all kept", async () => {
    const { id: org, api } = await createOrganization();
    const id = await createChannel(api, { channel: "webhook", config: { url: publicUrl } });
    const changes = [
      { isEnabled: false },
      { notifyOnNewBreach: false },
      { notifyOnScanComplete: true },
      { notifyOnScanError: false },
      { config: { secret: "s" } },
    ];
    // Called in this process, so that all of them read before the first one writes.
    const count = async () => {};
    await Promise.all(changes.map((change) => configure.change(org, id, change, administrator, count)));
    expect(await findChannel(api, id)).toMatchObject({
      isEnabled: false,
      notifyOnNewBreach: false,
      notifyOnScanComplete: true,
      notifyOnScanError: false,
      config: { hasSecret: true },
    });
  });
});

describe("400", () => {
  let organization: Organization;
  let webhook: number;
  let slack: number;
  let email: number;

  beforeAll(async () => {
    organization = await createOrganization();
    const { api } = organization;
    webhook = await createChannel(api, { channel: "webhook", config: { url: publicUrl, secret: "s" } });
    slack = await createChannel(api, { channel: "slack", config: { webhookUrl: publicUrl } });
    email = await createChannel(api, { channel: "email", config: { recipients: ["a@acme.example"] } });
  });

  const to = (url: string) => ({ config: { url } });
  const toSlack = (webhookUrl: string) => ({ config: { webhookUrl } });
  const unresolved = "https://does-not-resolve.example.com/T0KEN";
  test.each<[why: string, kind: "webhook" | "slack" | "email", body: Record<string, unknown>, error: RegExp]>(
    [
      ["a url of a private network", "webhook", to("https://10.0.0.1/T0KEN"), /^config\.url: /],
      ["a name that does not resolve", "webhook", to(unresolved), /^config\.url: name does not resolve$/],
      [
        "a webhookUrl of Teams",
        "slack",
        toSlack("https://prod-1.west.logic.azure.com/T0KEN"),
        /of Microsoft Teams/,
      ],
      [
        "a webhook's kind with Google Chat's url",
        "webhook",
        { channel: "slack", ...toSlack("https://chat.googleapis.com/v1/spaces/A/messages?key=T0KEN") },
        /of Google Chat/,
      ],
      ["a webhookUrl that is not public", "slack", toSlack("https://[::1]/T0KEN"), /^config\.webhookUrl: /],
      [
        "another kind without its config",
        "email",
        { channel: "webhook", config: { secret: "x" } },
        /^config\.url/,
      ],
      [
        "another kind with the old one's",
        "webhook",
        { channel: "slack", ...to(publicUrl) },
        /^config\.webhookUrl/,
      ],
    ],
  )("%s; the error names the field, never its value, and nothing changes", async (_, kind, body, error) => {
    const { api } = organization;
    const before = (await api.get("/alert-configs")).body;
    const id = { webhook, slack, email }[kind];
    const reply = await api.patch(`/alert-configs/${id}`, { ...body, isEnabled: false });
    expectRefusal(reply, 400, error);
    expect(reply.body.error).not.toContain("T0KEN");
    expect((await api.get("/alert-configs")).body).toEqual(before);
  });
});

test("404: an id that is deleted", async () => {
  const { api } = await createOrganization();
  const id = await createChannel(api, { channel: "webhook", config: { url: publicUrl } });
  await api.delete(`/alert-configs/${id}`);
  for (const body of [{}, { isEnabled: false }, { config: { url: "https://192.0.32.9/" } }]) {
    expectRefusal(await api.patch(`/alert-configs/${id}`, body), 404, /alert config/);
  }
});
