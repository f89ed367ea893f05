import { describe, expect, test } from "vitest";
import { createOrganization } from "../service/organization.ts";
import { expectEveryHeader } from "./reply.ts";

const url = "https://192.0.32.8/hooks/T0KEN?secret=query";

describe("200", () => {
  test("an organization without channels gets an empty list and nothing beside it", async () => {
    const { api } = await createOrganization();
    const reply = await api.get("/alert-configs");
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({ configs: [] });
    expectEveryHeader(reply);
  });

  test("a webhook has exactly the fields of the contract, without url and secret", async () => {
    const { id: organizationId, api } = await createOrganization();
    const config = { url, secret: "s3cr3t-of-the-hook" };
    const { id } = (await api.post("/alert-configs", { channel: "webhook", config })).body;
    const reply = await api.get("/alert-configs");
    expect(reply.body).toEqual({
      configs: [
        {
          id,
          organizationId,
          channel: "webhook",
          isEnabled: true,
          config: { urlPreview: "https://192.0.32.8/...", hasSecret: true },
          notifyOnNewBreach: true,
          notifyOnScanComplete: false,
          notifyOnScanError: true,
        },
      ],
    });
    expect(JSON.stringify(reply)).not.toMatch(/s3cr3t|T0KEN|secret=query/);
  });

  test("a Slack channel shows hasWebhookUrl, an e-mail channel its recipients", async () => {
    const { id: organizationId, api } = await createOrganization();
    await api.post("/alert-configs", { channel: "slack", config: { webhookUrl: url }, isEnabled: false });
    const recipients = ["a@acme.example", "b@acme.example"];
    await api.post("/alert-configs", {
      channel: "email",
      config: { recipients },
      notifyOnScanComplete: true,
    });
    const reply = await api.get("/alert-configs");
    const common = {
      id: expect.any(Number),
      organizationId,
      notifyOnNewBreach: true,
      notifyOnScanError: true,
    };
    expect(reply.body).toEqual({
      configs: [
        { ...common, channel: "email", isEnabled: true, config: { recipients }, notifyOnScanComplete: true },
        {
          ...common,
          channel: "slack",
          isEnabled: false,
          config: { hasWebhookUrl: true },
          notifyOnScanComplete: false,
        },
      ],
    });
    expect(JSON.stringify(reply)).not.toMatch(/192\.0\.32\.8|T0KEN/);
  });

  test("the preview of a url is its origin, with /... when the url has a path", async () => {
    const { api } = await createOrganization();
    const urls = [
      "https://192.0.32.8",
      "https://192.0.32.8/",
      "https://192.0.32.8:8443/",
      "https://192.0.32.8/a",
    ];
    for (const each of urls) await api.post("/alert-configs", { channel: "webhook", config: { url: each } });
    const { configs } = (await api.get("/alert-configs")).body as { configs: { config: unknown }[] };
    expect(configs.map(({ config }) => config)).toEqual(
      ["https://192.0.32.8/...", "https://192.0.32.8:8443", "https://192.0.32.8", "https://192.0.32.8"].map(
        (urlPreview) => ({ urlPreview, hasSecret: false }),
      ),
    );
  });

  test("newest first, all of them, and none of another organization", async () => {
    const [{ api }, other] = await Promise.all([createOrganization(), createOrganization()]);
    const create = async () =>
      (await api.post("/alert-configs", { channel: "webhook", config: { url } })).body.id;
    const ids = [await create(), await create(), await create()];
    // The list has no pages, so that limit and offset are ignored as unknown parameters.
    const { configs } = (await api.get("/alert-configs?limit=1&offset=x")).body as {
      configs: { id: unknown }[];
    };
    expect(configs.map(({ id }) => id)).toEqual(ids.reverse());
    expect((await other.api.get("/alert-configs")).body).toEqual({ configs: [] });
  });
});
