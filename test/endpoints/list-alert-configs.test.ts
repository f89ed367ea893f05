import { describe, expect, inject, test } from "vitest";
import { listAlertConfigs } from "../../functions/list-alert-configs/endpoint.ts";
import { signedIn } from "../dashboard/signed-in.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { expectInvalid } from "./invalid.ts";
import { expectEveryHeader, timestamp } from "./reply.ts";

describe("200", () => {
  test("newest first, all of them, and none of another organization", async () => {
    const [{ api }, other] = await Promise.all([createOrganization(), createOrganization()]);
    const config = { recipients: ["a@acme.example"] };
    const create = async () => (await api.post("/alert-configs", { channel: "email", config })).body.id;
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
    const unused = { failing: false, failingSince: null, notDelivered: 0, lastDeliveredAt: null };
    expect(configs).toMatchObject([
      { id: ids[2], ...unused, options: { name: null } },
      { id: ids[1], failing: true, failingSince: timestamp, notDelivered: 0, lastDeliveredAt: null },
      { id: ids[0], failing: false, lastDeliveredAt: timestamp, options: { name: "Tickets", ...options } },
    ]);
    const reply = await api.get("/alert-configs");
    expectEveryHeader(reply);
    const { configs: plain } = reply.body;
    expect(
      configs.map(({ options, failing, failingSince, notDelivered, lastDeliveredAt, ...config }) => config),
    ).toEqual(plain);
  });
});

test("400: an include that nobody knows", () =>
  expectInvalid(listAlertConfigs, { query: "include=everything" }, /include/));
