import { describe, expect, test } from "vitest";
import { admin } from "../service/admin.ts";
import { createChannel, inboxOf } from "../service/alert-channels.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { timestamp } from "./reply.ts";

describe("200", () => {
  test("newest first, all of them, and none of another organization", async () => {
    const [{ api }, other] = await Promise.all([createOrganization(), createOrganization()]);
    const config = { recipients: ["a@acme.example"] };
    const create = async () => (await api.post("/alert-configs", { channel: "email", config })).body.id;
    const ids = [await create(), await create(), await create()];
    // The list has no pages, so that limit and offset are ignored as unknown parameters.
    const configs = await api.list("/alert-configs?limit=1&offset=x");
    expect(configs.map(({ id }) => id)).toEqual(ids.reverse());
    expect((await other.api.get("/alert-configs")).body).toEqual({ configs: [] });
  });

  // test/dashboard/deliveries.test.ts has a channel that fails.
  test("include=details adds options, and whether deliveries arrive", async () => {
    const organization = await createOrganization();
    const { id: org, api } = organization;
    const ids: number[] = [];
    for (const name of ["used", "unused"])
      ids.push(
        await createChannel(api, {
          channel: "webhook",
          config: { url: inboxOf(organization, name) },
          notifyOnScanError: false,
        }),
      );
    const options = { minSeverity: "high", grouping: "address", sensitive: "named", tellOwners: false };
    await api.put(`/alert-configs/${ids[0]}/options`, { name: "Tickets", ...options });
    await admin("channel test", { org, channel: ids[0] ?? 0 });
    const configs = await eventually(
      () => api.list("/alert-configs?include=details"),
      ([, used]) => used.lastDeliveredAt !== null,
    );
    const working = { failing: false, failingSince: null, notDelivered: 0 };
    expect(configs).toMatchObject([
      { id: ids[1], ...working, lastDeliveredAt: null, options: { name: null } },
      { id: ids[0], ...working, lastDeliveredAt: timestamp, options: { name: "Tickets", ...options } },
    ]);
    expect(
      configs.map(({ options, failing, failingSince, notDelivered, lastDeliveredAt, ...config }) => config),
    ).toEqual(await api.list("/alert-configs"));
  });
});
