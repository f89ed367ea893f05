import { describe, expect, test } from "vitest";
import { createAlertConfig } from "../../functions/create-alert-config/endpoint.ts";
import { listChannels } from "../service/alert-channels.ts";
import { createOrganization } from "../service/organization.ts";
import { expectInvalid } from "./invalid.ts";
import { countStatuses, expectRefusal } from "./reply.ts";

/** A url whose host is an IP literal, so that no name has to be resolved. */
const url = "https://192.0.32.8/hook/T0KEN";

describe("201", () => {
  test.each<[channel: string, config: Record<string, unknown>, shown: Record<string, unknown>]>([
    ["email", { recipients: ["a@acme.example"] }, { recipients: ["a@acme.example"] }],
    ["slack", { webhookUrl: url }, { hasWebhookUrl: true }],
    ["webhook", { url, secret: "s3cr3t" }, { urlPreview: "https://192.0.32.8/...", hasSecret: true }],
  ])("of kind %s: its id, the documented defaults, and nothing secret", async (channel, config, shown) => {
    const { id: organizationId, api } = await createOrganization();
    const created = await api.post("/alert-configs", { channel, config });
    expect(created).toMatchObject({ status: 201 });
    expect(created.body).toEqual({ id: expect.any(Number) });
    const listed = await api.get("/alert-configs");
    expect(listed.body.configs).toEqual([
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
    expect(JSON.stringify(listed)).not.toMatch(/T0KEN|s3cr3t/);
  });

  test("has 1 to 20 recipients, trimmed, and as written but for their domains in ASCII", async () => {
    const { api } = await createOrganization();
    const recipients = Array.from({ length: 18 }, (_, index) => ` Person${index}@Acme.example `);
    const config = { recipients: [...recipients, "Ada@MÜNCHEN.example", "Bob@例え.テスト"] };
    await api.post("/alert-configs", { channel: "email", config });
    const inAscii = ["Ada@xn--mnchen-3ya.example", "Bob@xn--r8jz45g.xn--zckzah"];
    expect(await listChannels(api)).toMatchObject([
      { config: { recipients: [...recipients.map((each) => each.trim()), ...inAscii] } },
    ]);
  });

  test("keeps the flags that are given, and ignores the fields of another kind's config", async () => {
    const { api } = await createOrganization();
    const flags = {
      isEnabled: false,
      notifyOnNewBreach: false,
      notifyOnScanComplete: true,
      notifyOnScanError: false,
    };
    const config = { recipients: ["a@acme.example"], url: "http://10.0.0.1/", secret: 7 };
    expect((await api.post("/alert-configs", { channel: "email", config, ...flags })).status).toBe(201);
    const channels = await listChannels(api);
    expect(channels).toMatchObject([flags]);
    expect(channels[0]?.config).toEqual({ recipients: ["a@acme.example"] });
  });

  test('a secret of "" means none', async () => {
    const { api } = await createOrganization();
    await api.post("/alert-configs", { channel: "webhook", config: { url, secret: "" } });
    expect(await listChannels(api)).toMatchObject([{ config: { hasSecret: false } }]);
  });
});

describe("400", () => {
  test("a url that is not public HTTPS, or has no address; the error never contains it", async () => {
    const { api } = await createOrganization();
    const urls = [
      "http://192.0.32.8/T0KEN",
      "https://127.0.0.1/T0KEN",
      "https://user:T0KEN@192.0.32.8/",
      "https://host.internal/T0KEN",
      " https://192.0.32.8/T0KEN",
      "T0KEN",
      `https://192.0.32.8/T0KEN${"x".repeat(2048)}`,
      "https://does-not-resolve.example.com/T0KEN",
    ];
    const bodies = urls.flatMap((each) => [
      { channel: "webhook", config: { url: each } },
      { channel: "slack", config: { webhookUrl: each } },
    ]);
    const replies = await Promise.all(bodies.map((body) => api.post("/alert-configs", body)));
    for (const reply of replies) {
      expectRefusal(reply, 400, /^config\.(url|webhookUrl): /);
      expect(reply.body.error).not.toMatch(/T0KEN|user/);
    }
    expect(replies.at(-1)?.body.error).toBe("config.webhookUrl: name does not resolve");
    expect(await listChannels(api)).toEqual([]);
  });

  const webhook = (config: object, flags: object = {}) => ({ channel: "webhook", config, ...flags });
  const email = (...recipients: unknown[]) => ({ channel: "email", config: { recipients } });
  const noBase64 = /^config\.secret: must be the base64 of at least 16 bytes/;
  const noAddress = /^config\.recipients\.1: must be an e-mail address of a public domain/;
  test.each<[why: string, body: Record<string, unknown>, field: RegExp]>([
    ["no channel", { config: { url } }, /^channel/],
    ["an unknown channel", { channel: "sms", config: { url } }, /^channel/],
    ["no config", { channel: "webhook" }, /^config/],
    ["a config that is a list", webhook([url]), /^config/],
    ["no url", webhook({}), /^config\.url/],
    ["an empty url", webhook({ url: "" }), /^config\.url/],
    ["a url that is a list", webhook({ url: [url] }), /^config\.url/],
    ["a secret that is a number", webhook({ url, secret: 7 }), /^config\.secret/],
    ["a secret that is null", webhook({ url, secret: null }), /^config\.secret/],
    ["a secret of 1025 characters", webhook({ url, secret: "x".repeat(1025) }), /^config\.secret/],
    ["a secret with a lone surrogate", webhook({ url, secret: "\ud800" }), /^config\.secret/],
    ["a secret with a control character", webhook({ url, secret: "line\n" }), /^config\.secret/],
    ["a secret without base64", webhook({ url, secret: "whsec_" }), noBase64],
    ["a secret of no base64", webhook({ url, secret: "whsec_no base64 of any" }), noBase64],
    ["a secret of 15 bytes", webhook({ url, secret: `whsec_${btoa("x".repeat(15))}` }), noBase64],
    ["no webhookUrl", { channel: "slack", config: { url } }, /^config\.webhookUrl/],
    ["no recipients at all", { channel: "email", config: {} }, /^config\.recipients/],
    ["an empty list of recipients", email(), /^config\.recipients/],
    ["21 recipients", email(...Array(21).fill("a@acme.example")), /^config\.recipients/],
    ["recipients as a string", { channel: "email", config: { recipients: "a@a.example" } }, /^config\.rec/],
    ["a recipient that is no address", email("acme.example"), /^config\.recipients\.0/],
    ["a recipient with a line break", email("a@a.example\r\nBcc: b@a.example"), /^config\.recipients\.0/],
    ...["a@localhost", "a..b@acme.example", ".a@acme.example", "a.@acme.example", "a@10.0.0.1"].map(
      (recipient): [string, Record<string, unknown>, RegExp] => [
        `the recipient ${recipient}`,
        email("a@acme.example", recipient),
        noAddress,
      ],
    ),
    ["isEnabled as a string", webhook({ url }, { isEnabled: "true" }), /^isEnabled/],
    ["a flag as a number", webhook({ url }, { notifyOnScanError: 1 }), /^notifyOnScanError/],
    ["a flag that is null", webhook({ url }, { notifyOnNewBreach: null }), /^notifyOnNewBreach/],
  ])("%s; the error names the field", (_, body, field) => expectInvalid(createAlertConfig, { body }, field));

  test("the 21st channel, also of simultaneous requests, until one is deleted", async () => {
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
    const [first] = await listChannels(api);
    expect((await api.delete(`/alert-configs/${first?.id}`)).status).toBe(200);
    expect(countStatuses(await Promise.all([1, 2].map(create)))).toEqual({ 201: 1, 400: 1 });
    expect(await listChannels(api)).toHaveLength(20);
  });
});
