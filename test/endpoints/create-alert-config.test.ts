import { describe, expect, test } from "vitest";
import { listChannels } from "../service/alert-channels.ts";
import { createOrganization } from "../service/organization.ts";
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

  test("takes 1 to 20 recipients, trimmed, as written but for domains in ASCII", async () => {
    const { api } = await createOrganization();
    const recipients = Array.from({ length: 18 }, (_, index) => ` Person${index}@Acme.example `);
    const config = { recipients: [...recipients, "Ada@MÜNCHEN.example", "Bob@例え.テスト"] };
    await api.post("/alert-configs", { channel: "email", config });
    const inAscii = ["Ada@xn--mnchen-3ya.example", "Bob@xn--r8jz45g.xn--zckzah"];
    expect(await listChannels(api)).toMatchObject([
      { config: { recipients: [...recipients.map((each) => each.trim()), ...inAscii] } },
    ]);
  });

  test("keeps the flags that are given, and ignores the config of other kinds", async () => {
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
  test("a url that is not public HTTPS or has no address; errors do not show it", async () => {
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

  test.each([
    [
      "https://prod-05.switzerlandnorth.logic.azure.com:443/workflows/T0KEN/triggers/manual/paths/invoke",
      /Teams/,
    ],
    ["https://default0a.1b.environment.api.powerplatform.com/powerautomate/automations/T0KEN", /Teams/],
    ["https://europe.flow.microsoft.com/T0KEN", /Teams/],
    ["https://acme.webhook.office.com/webhookb2/T0KEN", /e-mail address of the Teams channel/],
    ["https://outlook.office.com./webhook/T0KEN", /Teams/],
    ["https://chat.googleapis.com/v1/spaces/A/messages?key=T0KEN", /Google Chat/],
    ["https://discord.com/api/webhooks/1/T0KEN", /with \/slack at the end/],
    ["https://events.pagerduty.com/integration/T0KEN/enqueue", /add it as a webhook channel/],
  ])("as a Slack channel %s, with what to do instead", async (webhookUrl, advice) => {
    const { api } = await createOrganization();
    const reply = await api.post("/alert-configs", { channel: "slack", config: { webhookUrl } });
    expectRefusal(reply, 400, advice);
    expect(reply.body.error).toMatch(/^config\.webhookUrl: is a url of /);
    expect(reply.body.error).not.toContain("T0KEN");
    expect(await listChannels(api)).toEqual([]);
  });

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
