import { beforeAll, describe, expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";
import {
  createChannel,
  expectSignedWith,
  findChannel,
  inboxOf,
  listDeliveries,
  onlyScanComplete,
  publicUrl,
  scanAndReceive,
} from "../service/alert-channels.ts";
import { createOrganization, type Organization } from "../service/organization.ts";
import { receivedAt } from "../service/receiver.ts";
import { scan } from "../service/scan.ts";
import { expectEveryHeader, expectRefusal, unknownId } from "./reply.ts";

const flags = {
  isEnabled: true,
  notifyOnNewBreach: true,
  notifyOnScanComplete: false,
  notifyOnScanError: true,
};

/** Creates an organization with one e-mail, which no breach contains. */
const createWithEmail = async (): Promise<Organization> => {
  const organization = await createOrganization();
  const { api, domainId } = organization;
  await api.post("/emails", { email: "nobody@demo.example", domainId });
  return organization;
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
      expectEveryHeader(reply);
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

  test("changes the recipients of an e-mail channel, trimmed, and shows them as written", async () => {
    const { api } = await createOrganization();
    const id = await createChannel(api, { channel: "email", config: { recipients: ["a@acme.example"] } });
    const recipients = [" Security@Acme.example ", "b@acme.example"];
    expect((await api.patch(`/alert-configs/${id}`, { config: { recipients } })).status).toBe(200);
    expect(await findChannel(api, id)).toMatchObject({
      config: { recipients: ["Security@Acme.example", "b@acme.example"] },
    });
  });

  test("changes the webhookUrl of a Slack channel, which is never returned", async () => {
    const { api } = await createOrganization();
    const id = await createChannel(api, { channel: "slack", config: { webhookUrl: publicUrl } });
    const webhookUrl = "https://192.0.32.9/services/T0KEN";
    const reply = await api.patch(`/alert-configs/${id}`, { config: { webhookUrl } });
    expect(reply).toMatchObject({ status: 200, body: { ok: true } });
    expect((await findChannel(api, id))?.config).toEqual({ hasWebhookUrl: true });
    expect(JSON.stringify([reply, await api.get("/alert-configs")])).not.toContain("T0KEN");
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

  test("urlPreview sent back as url has no effect: the real url gets the deliveries", async () => {
    const organization = await createWithEmail();
    const { api } = organization;
    const inbox = inboxOf(organization, "preview");
    const config = { url: inbox, secret: "first" };
    const id = await createChannel(api, { channel: "webhook", config, ...onlyScanComplete });
    const shown = await findChannel(api, id);
    const url = shown?.config.urlPreview;
    expect(url).toBe(`${new URL(inbox).origin}/...`);
    expect((await api.patch(`/alert-configs/${id}`, { config: { url } })).status).toBe(200);
    // Sending back the whole channel as it is listed changes nothing either.
    expect((await api.patch(`/alert-configs/${id}`, { ...shown, config: shown?.config })).status).toBe(200);
    expect(await findChannel(api, id)).toEqual(shown);
    expectSignedWith(await scanAndReceive(api, inbox, 1), "first");
    expect((await api.patch(`/alert-configs/${id}`, { config: { url, secret: "second" } })).status).toBe(200);
    expectSignedWith(await scanAndReceive(api, inbox, 2), "second");
    // The url of the preview got no delivery.
    expect(await receivedAt(`${new URL(inbox).origin}/...`)).toEqual([]);
  });

  test("config.secret: omitted keeps it, a new one replaces it, an empty one clears it", async () => {
    const organization = await createWithEmail();
    const { api } = organization;
    const inbox = inboxOf(organization, "secret");
    const moved = inboxOf(organization, "moved");
    const config = { url: inbox, secret: "first" };
    const id = await createChannel(api, { channel: "webhook", config, ...onlyScanComplete });
    const patch = async (change: Record<string, unknown>, hasSecret: boolean) => {
      expect((await api.patch(`/alert-configs/${id}`, change)).status).toBe(200);
      expect((await findChannel(api, id))?.config.hasSecret).toBe(hasSecret);
    };
    await patch({ notifyOnScanError: true, config: {} }, true);
    expectSignedWith(await scanAndReceive(api, inbox, 1), "first");
    await patch({ config: { secret: "sécond 🔑" } }, true);
    expectSignedWith(await scanAndReceive(api, inbox, 2), "sécond 🔑");
    await patch({ config: { url: moved } }, true);
    expectSignedWith(await scanAndReceive(api, moved, 1), "sécond 🔑");
    await patch({ config: { secret: "" } }, false);
    expectSignedWith(await scanAndReceive(api, moved, 2), undefined);
    await patch({ config: { secret: "third" } }, true);
    expectSignedWith(await scanAndReceive(api, moved, 3), "third");
    expect(await receivedAt(inbox)).toHaveLength(2);
  });

  test("changes the channel with a full config, and keeps nothing of the old config", async () => {
    const { api } = await createOrganization();
    const config = { url: publicUrl, secret: "s3cr3t-of-the-hook" };
    const id = await createChannel(api, { channel: "webhook", config, notifyOnNewBreach: false });
    const change = (body: Record<string, unknown>) => api.patch(`/alert-configs/${id}`, body);
    expect((await change({ channel: "email", config: { recipients: ["a@acme.example"] } })).status).toBe(200);
    expect(await findChannel(api, id)).toMatchObject({ channel: "email", notifyOnNewBreach: false });
    expect((await findChannel(api, id))?.config).toEqual({ recipients: ["a@acme.example"] });
    expect((await change({ channel: "slack", config: { webhookUrl: publicUrl } })).status).toBe(200);
    expect((await findChannel(api, id))?.config).toEqual({ hasWebhookUrl: true });
    expect((await change({ channel: "webhook", config: { url: publicUrl } })).status).toBe(200);
    expect((await findChannel(api, id))?.config).toEqual({
      urlPreview: "https://192.0.32.8/...",
      hasSecret: false,
    });
  });

  test("a disabled channel misses the events of that time, and gets those that follow", async () => {
    const organization = await createWithEmail();
    const { api } = organization;
    const inbox = inboxOf(organization, "disabled");
    const other = inboxOf(organization, "enabled");
    const id = await createChannel(api, { channel: "webhook", config: { url: inbox }, ...onlyScanComplete });
    await createChannel(api, { channel: "webhook", config: { url: other }, ...onlyScanComplete });
    await api.patch(`/alert-configs/${id}`, { isEnabled: false });
    await scanAndReceive(api, other, 1);
    expect(await listDeliveries(organization, id)).toEqual([]);
    await api.patch(`/alert-configs/${id}`, { isEnabled: true });
    await scanAndReceive(api, inbox, 1);
    expect(await listDeliveries(organization, id)).toHaveLength(1);
  });

  test("a flag that is turned off ends that type of event only", async () => {
    const organization = await createOrganization();
    const { api, domainId } = organization;
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const inbox = inboxOf(organization, "flags");
    const id = await createChannel(api, {
      channel: "webhook",
      config: { url: inbox },
      notifyOnScanComplete: true,
    });
    await api.patch(`/alert-configs/${id}`, { notifyOnNewBreach: false });
    const received = await scanAndReceive(api, inbox, 1);
    expect(JSON.parse(received.body.toString("utf8"))).toMatchObject({ type: "scan_complete" });
    await api.patch(`/alert-configs/${id}`, { notifyOnScanComplete: false });
    await scan(api);
    expect(await listDeliveries(organization, id)).toMatchObject([{ type: "scan_complete" }]);
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

  const expectUnchanged = async (act: () => Promise<void>): Promise<void> => {
    const before = (await organization.api.get("/alert-configs")).body;
    await act();
    expect((await organization.api.get("/alert-configs")).body).toEqual(before);
  };

  test.each<[why: string, kind: "webhook" | "slack" | "email", body: Record<string, unknown>, error: RegExp]>(
    [
      [
        "a url of a private network",
        "webhook",
        { config: { url: "https://10.0.0.1/T0KEN" } },
        /^config\.url: /,
      ],
      [
        "a url with credentials",
        "webhook",
        { config: { url: "https://u:T0KEN@192.0.32.8/" } },
        /^config\.url: /,
      ],
      ["a url of plain http", "webhook", { config: { url: "http://192.0.32.8/T0KEN" } }, /^config\.url: /],
      ["an empty url", "webhook", { config: { url: "" } }, /^config\.url/],
      ["a url that is null", "webhook", { config: { url: null } }, /^config\.url/],
      ["a secret that is null", "webhook", { config: { secret: null } }, /^config\.secret/],
      ["a secret with a control character", "webhook", { config: { secret: "\0" } }, /^config\.secret/],
      ["a secret that is no base64", "webhook", { config: { secret: "whsec_T0KEN" } }, /^config\.secret/],
      [
        "a webhookUrl that is not public",
        "slack",
        { config: { webhookUrl: "https://[::1]/T0KEN" } },
        /^config\.webhookUrl: /,
      ],
      ["no recipients", "email", { config: { recipients: [] } }, /^config\.recipients/],
      [
        "a recipient that is no address",
        "email",
        { config: { recipients: ["a@acme.example", "T0KEN"] } },
        /^config\.recipients\.1/,
      ],
      [
        "21 recipients",
        "email",
        { config: { recipients: Array.from({ length: 21 }, (_, i) => `a${i}@acme.example`) } },
        /^config\.recipients/,
      ],
      ["another channel without a config", "email", { channel: "webhook" }, /^config\.url/],
      [
        "another channel with half a config",
        "email",
        { channel: "webhook", config: { secret: "x" } },
        /^config\.url/,
      ],
      [
        "another channel with the old one's config",
        "webhook",
        { channel: "slack", config: { url: publicUrl } },
        /^config\.webhookUrl/,
      ],
      [
        "another channel whose url is not public",
        "email",
        { channel: "slack", config: { webhookUrl: "https://127.0.0.1/T0KEN" } },
        /^config\.webhookUrl: /,
      ],
      ["an unknown channel", "email", { channel: "sms" }, /^channel/],
      ["a config that is a list", "email", { config: [] }, /^config/],
      ["a config that is null", "email", { config: null }, /^config/],
      ["isEnabled as a string", "email", { isEnabled: "false" }, /^isEnabled/],
      ["a flag that is null", "email", { notifyOnScanError: null }, /^notifyOnScanError/],
    ],
  )("%s; the error names the field, never its value, and nothing changes", async (_, kind, body, error) => {
    const id = { webhook, slack, email }[kind];
    await expectUnchanged(async () => {
      const reply = await organization.api.patch(`/alert-configs/${id}`, {
        ...body,
        isEnabled: body.isEnabled ?? false,
      });
      expectRefusal(reply, 400, error);
      expect(reply.body.error).not.toContain("T0KEN");
    });
  });

  test("a hostname that does not resolve", async () => {
    await expectUnchanged(async () => {
      const config = { url: "https://does-not-resolve.example.com/T0KEN" };
      const reply = await organization.api.patch(`/alert-configs/${webhook}`, { config });
      expectRefusal(reply, 400, /^config\.url: name does not resolve$/);
    });
  });
});

describe("404", () => {
  test("an id that is unknown or deleted", async () => {
    const { api } = await createOrganization();
    const deleted = await createChannel(api, { channel: "webhook", config: { url: publicUrl } });
    await api.delete(`/alert-configs/${deleted}`);
    for (const id of [unknownId, deleted]) {
      for (const body of [{}, { isEnabled: false }, { config: { url: "https://192.0.32.9/" } }]) {
        expectRefusal(await api.patch(`/alert-configs/${id}`, body), 404, /alert config/);
      }
    }
  });
});
