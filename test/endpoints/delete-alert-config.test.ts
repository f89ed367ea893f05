import { Logger } from "@aws-lambda-powertools/logger";
import { describe, expect, test, vi } from "vitest";
import { deliver, readSubjects, type Subject } from "../../shared/alerting/deliveries/deliver.ts";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
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
import { receivedAt } from "../service/receiver.ts";
import { countStatuses, expectEveryHeader, expectRefusal } from "./reply.ts";

describe("200", () => {
  test("the channel and its delivery history are gone, and the others stay", async () => {
    const organization = await createOrganization();
    const { id: org, api } = organization;
    const url = inboxOf(organization, "deleted");
    const [removed, kept] = [
      await createChannel(api, { channel: "webhook", config: { url } }),
      await createChannel(api, { channel: "webhook", config: { url } }),
    ];
    for (const channel of [removed, kept]) await admin("channel test", { org, channel });
    const history = await eventually(
      () => listDeliveries(organization, kept),
      ([delivery]) => delivery?.status === "delivered",
    );
    expect(await listDeliveries(organization, removed)).toHaveLength(1);
    const reply = await api.delete(`/alert-configs/${removed}`);
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({ ok: true });
    expectEveryHeader(reply);
    expect(await listChannels(api)).toMatchObject([{ id: kept }]);
    await expect(listDeliveries(organization, removed)).rejects.toThrow("has no channel");
    expect(await listDeliveries(organization, kept)).toEqual(history);
    expectRefusal(await api.delete(`/alert-configs/${removed}`), 404, /alert config/);
  });

  test("its open deliveries are not tried again, and their history never comes back", async () => {
    const organization = await createOrganization();
    const { id: org, api } = organization;
    const inbox = inboxOf(organization, "failing");
    const id = await createChannel(api, { channel: "webhook", config: { url: `${inbox}?status=500` } });
    await admin("channel test", { org, channel: id });
    await eventually(
      () => receivedAt(inbox),
      (all) => all.length >= 1,
    );
    const [delivery] = await listDeliveries(organization, id);
    const deliveryId = delivery?.id ?? 0;
    await api.delete(`/alert-configs/${id}`);
    await expect(listDeliveries(organization, id)).rejects.toThrow("has no channel");
    const attempts = (await receivedAt(inbox)).length;
    // Both messages of the retries, as either may still be in the queue.
    const logger = new Logger({ logLevel: "SILENT" });
    const logged = vi.spyOn(logger, "info");
    const settings = { redispatchSeconds: 3_600, waitingSeconds: 300, longestWaitSeconds: 86_400 };
    for (const number of [2, 3]) {
      const message = { organizationId: org, deliveryId, channelId: id, attempt: number };
      const [subject] = await readSubjects([message]);
      await deliver(message, subject as Subject, { logger }, settings);
      expect(logged).toHaveBeenLastCalledWith("delivery", expect.objectContaining({ outcome: "dropped" }));
    }
    // An attempt that had begun before the deletion may still arrive.
    expect((await receivedAt(inbox)).length).toBeLessThanOrEqual(attempts + 1);
    await expect(listDeliveries(organization, id)).rejects.toThrow("has no channel");
    expect(deliveries.sum(await deliveries.directory(org))).toBe(0);
  });

  test("of deletions of one channel at the same instant exactly one succeeds", async () => {
    const { api } = await createOrganization();
    const id = await createChannel(api, { channel: "webhook", config: { url: publicUrl } });
    const replies = await Promise.all(Array.from({ length: 5 }, () => api.delete(`/alert-configs/${id}`)));
    expect(countStatuses(replies)).toEqual({ 200: 1, 404: 4 });
  });
});
