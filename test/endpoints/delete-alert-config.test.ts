import { describe, expect, test } from "vitest";
import { admin } from "../service/admin.ts";
import {
  createChannel,
  inboxOf,
  listChannels,
  listDeliveries,
  publicUrl,
} from "../service/alert-channels.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { countStatuses, expectRefusal } from "./reply.ts";

describe("200", () => {
  test("the channel and its delivery history are gone, and the others stay", async () => {
    const organization = await createOrganization();
    const { id: org, api } = organization;
    const url = inboxOf(organization, "deleted");
    // Neither is told of the other.
    const webhook = { channel: "webhook", config: { url }, notifyOnScanError: false };
    const [removed, kept] = [await createChannel(api, webhook), await createChannel(api, webhook)];
    for (const channel of [removed, kept]) await admin("channel test", { org, channel });
    const history = await eventually(
      () => listDeliveries(organization, kept),
      ([delivery]) => delivery?.status === "delivered",
    );
    expect(await listDeliveries(organization, removed)).toHaveLength(1);
    const reply = await api.delete(`/alert-configs/${removed}`);
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({ ok: true });
    expect(await listChannels(api)).toMatchObject([{ id: kept }]);
    await expect(listDeliveries(organization, removed)).rejects.toThrow("has no channel");
    expect(await listDeliveries(organization, kept)).toEqual(history);
    expectRefusal(await api.delete(`/alert-configs/${removed}`), 404, /alert config/);
  });

  test("of deletions of one channel at the same instant exactly one succeeds", async () => {
    const { api } = await createOrganization();
    const id = await createChannel(api, { channel: "webhook", config: { url: publicUrl } });
    const replies = await Promise.all(Array.from({ length: 5 }, () => api.delete(`/alert-configs/${id}`)));
    expect(countStatuses(replies)).toEqual({ 200: 1, 404: 4 });
  });
});
