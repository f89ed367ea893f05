import { describe, expect, inject, test } from "vitest";
import { signedIn } from "../dashboard/signed-in.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { expectEveryHeader, expectRefusal, timestamp } from "./reply.ts";

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

  test("include=details adds options, and whether deliveries arrive", async () => {
    const { id: org, api } = await createOrganization();
    const inbox = `${inject("receiverUrl")}/list-alert-configs-${org}`;
    const ids = [];
    for (const url of [inbox, `${inbox}?status=500`, `${inbox}-unused`])
      ids.push((await api.post("/alert-configs", { channel: "webhook", config: { url } })).body.id);
    const options = { minSeverity: "high", grouping: "address", sensitive: "named", tellOwners: false };
    await api.put(`/alert-configs/${ids[0]}/options`, { name: "Tickets", ...options });
    const { dashboard } = await signedIn(org);
    for (const id of ids.slice(0, 2)) await dashboard.post(`/alert-configs/${id}/test`);
    const details = async () =>
      (await api.get("/alert-configs?include=details")).body.configs as Record<string, unknown>[];
    const isOver = (configs: Record<string, unknown>[]): boolean =>
      configs[1]?.failing === true && configs[2]?.lastDeliveredAt !== null;
    const configs = await eventually(details, isOver);
    expect(configs).toMatchObject([
      {
        id: ids[2],
        failing: false,
        failingSince: null,
        notDelivered: 0,
        lastDeliveredAt: null,
        options: { name: null },
      },
      { id: ids[1], failing: true, failingSince: timestamp, notDelivered: 0, lastDeliveredAt: null },
      { id: ids[0], failing: false, lastDeliveredAt: timestamp, options: { name: "Tickets", ...options } },
    ]);
    const { configs: plain } = (await api.get("/alert-configs")).body;
    expect(
      configs.map(({ options, failing, failingSince, notDelivered, lastDeliveredAt, ...config }) => config),
    ).toEqual(plain);
  });
});

describe("400", () => {
  test("an include that nobody knows", async () => {
    const { api } = await createOrganization();
    expectRefusal(await api.get("/alert-configs?include=everything"), 400, /include/);
  });
});
