import { describe, expect, test } from "vitest";
import {
  createChannel,
  inboxOf,
  listChannels,
  listDeliveries,
  scanAndReceive,
} from "../service/alert-channels.ts";
import { createOrganization } from "../service/organization.ts";
import { receivedAt } from "../service/receiver.ts";
import { countStatuses, expectEveryHeader, expectRefusal } from "./reply.ts";

/** A url whose host is an IP literal, so that no name has to be resolved. */
const url = "https://192.0.32.8/hook";

describe("201", () => {
  test.each<[channel: string, config: Record<string, unknown>, shown: Record<string, unknown>]>([
    ["email", { recipients: ["a@acme.example"] }, { recipients: ["a@acme.example"] }],
    ["slack", { webhookUrl: url }, { hasWebhookUrl: true }],
    ["webhook", { url, secret: "s" }, { urlPreview: "https://192.0.32.8/...", hasSecret: true }],
  ])("of kind %s: its id, the documented defaults, and nothing secret", async (channel, config, shown) => {
    const { id: organizationId, api } = await createOrganization();
    const created = await api.post("/alert-configs", { channel, config });
    expect(created).toMatchObject({ status: 201 });
    expect(created.body).toEqual({ id: expect.any(Number) });
    expectEveryHeader(created);
    expect(await listChannels(api)).toEqual([
      {
        id: created.body.id,
        organizationId,
        channel,
        isEnabled: true,
        config: shown,
        notifyOnNewBreach: true,
        notifyOnScanComplete: false,
        notifyOnScanError: true,
      },
    ]);
  });

  test("keeps the domains of recipients in ASCII", async () => {
    const { api } = await createOrganization();
    const recipients = ["Ada@MÜNCHEN.example", "Bob@例え.テスト"];
    await api.post("/alert-configs", { channel: "email", config: { recipients } });
    expect(await listChannels(api)).toMatchObject([
      { config: { recipients: ["Ada@xn--mnchen-3ya.example", "Bob@xn--r8jz45g.xn--zckzah"] } },
    ]);
  });

  test("an e-mail channel has 1 to 20 recipients, trimmed and shown as written", async () => {
    const { api } = await createOrganization();
    const recipients = Array.from({ length: 20 }, (_, index) => ` Person${index}@Acme.example `);
    await api.post("/alert-configs", { channel: "email", config: { recipients } });
    expect(await listChannels(api)).toMatchObject([
      { config: { recipients: recipients.map((each) => each.trim()) } },
    ]);
  });

  test("ignores the fields of another kind's config", async () => {
    const { api } = await createOrganization();
    const config = { recipients: ["a@acme.example"], url: "http://10.0.0.1/", secret: 7 };
    expect((await api.post("/alert-configs", { channel: "email", config })).status).toBe(201);
    expect(await listChannels(api)).toMatchObject([{ config: { recipients: ["a@acme.example"] } }]);
  });

  test("a disabled channel gets no events", async () => {
    const organization = await createOrganization();
    const { api, domainId } = organization;
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const inboxes = [inboxOf(organization, "off"), inboxOf(organization, "on")];
    const ids = await Promise.all(
      inboxes.map((inbox, index) =>
        createChannel(api, { channel: "webhook", config: { url: inbox }, isEnabled: index === 1 }),
      ),
    );
    await scanAndReceive(api, inboxes[1] as string, 1);
    expect(await listDeliveries(organization, ids[0] as number)).toEqual([]);
    expect(await receivedAt(inboxes[0] as string)).toEqual([]);
  });

  test("keeps the flags that are given", async () => {
    const { api } = await createOrganization();
    const flags = {
      isEnabled: false,
      notifyOnNewBreach: false,
      notifyOnScanComplete: true,
      notifyOnScanError: false,
    };
    await api.post("/alert-configs", { channel: "webhook", config: { url }, ...flags });
    expect(await listChannels(api)).toMatchObject([flags]);
  });

  test('a secret of "" means none', async () => {
    const { api } = await createOrganization();
    await api.post("/alert-configs", { channel: "webhook", config: { url, secret: "" } });
    expect(await listChannels(api)).toMatchObject([{ config: { hasSecret: false } }]);
  });
});

describe("400", () => {
  test("a url that is not public HTTPS; the error never contains the url", async () => {
    const { api } = await createOrganization();
    const urls = [
      "http://192.0.32.8/T0KEN",
      "https://127.0.0.1/T0KEN",
      "https://user:T0KEN@192.0.32.8/",
      "https://host.internal/T0KEN",
      " https://192.0.32.8/T0KEN",
      "T0KEN",
      `https://192.0.32.8/T0KEN${"x".repeat(2048)}`,
    ];
    const replies = await Promise.all(
      urls.map((each) => api.post("/alert-configs", { channel: "webhook", config: { url: each } })),
    );
    for (const reply of replies) {
      expectRefusal(reply, 400, /^config\.url: /);
      expect(reply.body.error).not.toMatch(/T0KEN|user/);
    }
    expect(await listChannels(api)).toEqual([]);
  });

  test.each<[why: string, body: Record<string, unknown>, field: RegExp]>([
    ["no channel", { config: { url } }, /^channel/],
    ["an unknown channel", { channel: "sms", config: { url } }, /^channel/],
    ["no config", { channel: "webhook" }, /^config/],
    ["a config that is a list", { channel: "webhook", config: [url] }, /^config/],
    ["no url", { channel: "webhook", config: {} }, /^config\.url/],
    ["an empty url", { channel: "webhook", config: { url: "" } }, /^config\.url/],
    ["a url that is a list", { channel: "webhook", config: { url: [url] } }, /^config\.url/],
    ["a secret that is a number", { channel: "webhook", config: { url, secret: 7 } }, /^config\.secret/],
    ["a secret that is null", { channel: "webhook", config: { url, secret: null } }, /^config\.secret/],
    [
      "a secret of 1025 characters",
      { channel: "webhook", config: { url, secret: "x".repeat(1025) } },
      /^config\.secret/,
    ],
    ...["", "no base64 of any", Buffer.alloc(15).toString("base64")].map(
      (key): [string, Record<string, unknown>, RegExp] => [
        `a secret of whsec_${key}`,
        { channel: "webhook", config: { url, secret: `whsec_${key}` } },
        /^config\.secret: must be the base64 of at least 16 bytes/,
      ],
    ),
    ["no webhookUrl", { channel: "slack", config: { url } }, /^config\.webhookUrl/],
    [
      "a webhookUrl that is not public",
      { channel: "slack", config: { webhookUrl: "https://10.0.0.1/" } },
      /^config\.webhookUrl/,
    ],
    ["no recipients at all", { channel: "email", config: {} }, /^config\.recipients/],
    ...["a@localhost", "a..b@acme.example", ".a@acme.example", "a.@acme.example", "a@10.0.0.1"].map(
      (recipient): [string, Record<string, unknown>, RegExp] => [
        `a recipient that no mail can be sent to: ${recipient}`,
        { channel: "email", config: { recipients: ["a@acme.example", recipient] } },
        /^config\.recipients\.1: must be an e-mail address of a public domain/,
      ],
    ),
    ["an empty list of recipients", { channel: "email", config: { recipients: [] } }, /^config\.recipients/],
    [
      "21 recipients",
      {
        channel: "email",
        config: { recipients: Array.from({ length: 21 }, (_, i) => `a${i}@acme.example`) },
      },
      /^config\.recipients/,
    ],
    [
      "a recipient that is no address",
      { channel: "email", config: { recipients: ["acme.example"] } },
      /^config\.recipients\.0/,
    ],
    [
      "a recipient with a line break",
      { channel: "email", config: { recipients: ["a@acme.example\r\nBcc: b@acme.example"] } },
      /^config\.recipients\.0/,
    ],
    [
      "recipients as a string",
      { channel: "email", config: { recipients: "a@acme.example" } },
      /^config\.recipients/,
    ],
    [
      "a secret with a lone surrogate",
      { channel: "webhook", config: { url, secret: "\ud800" } },
      /^config\.secret/,
    ],
    [
      "a secret with a control character",
      { channel: "webhook", config: { url, secret: "line\n" } },
      /^config\.secret/,
    ],
    ["isEnabled as a string", { channel: "webhook", config: { url }, isEnabled: "true" }, /^isEnabled/],
    [
      "a flag as a number",
      { channel: "webhook", config: { url }, notifyOnScanError: 1 },
      /^notifyOnScanError/,
    ],
    [
      "a flag that is null",
      { channel: "webhook", config: { url }, notifyOnNewBreach: null },
      /^notifyOnNewBreach/,
    ],
  ])("%s; the error names the field, and no channel is made", async (_, body, field) => {
    const { api } = await createOrganization();
    expectRefusal(await api.post("/alert-configs", body), 400, field);
    expect(await listChannels(api)).toEqual([]);
  });

  test("a hostname that does not resolve at write time", async () => {
    const { api } = await createOrganization();
    const name = "https://does-not-resolve.example.com/T0KEN";
    for (const body of [
      { channel: "webhook", config: { url: name } },
      { channel: "slack", config: { webhookUrl: name } },
    ]) {
      const reply = await api.post("/alert-configs", body);
      expectRefusal(reply, 400, /^config\.(url|webhookUrl): name does not resolve$/);
    }
    expect(await listChannels(api)).toEqual([]);
  });

  test("the 21st channel, also of simultaneous requests, with channel_limit_reached", async () => {
    const { api } = await createOrganization();
    const bodies = [
      { channel: "webhook", config: { url } },
      { channel: "slack", config: { webhookUrl: url } },
      { channel: "email", config: { recipients: ["a@acme.example"] } },
    ];
    const create = (_: unknown, index = 0) => api.post("/alert-configs", bodies[index % bodies.length]);
    const replies = await Promise.all(Array.from({ length: 24 }, create));
    expect(countStatuses(replies)).toEqual({ 201: 20, 400: 4 });
    expectRefusal(await create(undefined), 400, /20 alert channels/, { code: "channel_limit_reached" });
    expect(await listChannels(api)).toHaveLength(20);
  });
});
