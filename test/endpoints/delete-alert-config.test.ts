import { Logger } from "@aws-lambda-powertools/logger";
import { describe, expect, test, vi } from "vitest";
import { deliver, readSubjects, type Subject } from "../../shared/alerting/deliveries/deliver.ts";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import {
  createChannel,
  inboxOf,
  listChannels,
  listDeliveries,
  onlyScanComplete,
  publicUrl,
  scanAndReceive,
} from "../service/alert-channels.ts";
import { eventually } from "../service/eventually.ts";
import { createOrganization } from "../service/organization.ts";
import { receivedAt } from "../service/receiver.ts";
import { scan } from "../service/scan.ts";
import { countStatuses, expectEveryHeader, expectRefusal, unknownId } from "./reply.ts";

describe("200", () => {
  test.each<[channel: string, config: Record<string, unknown>]>([
    ["webhook", { url: publicUrl }],
    ["slack", { webhookUrl: publicUrl }],
    ["email", { recipients: ["a@acme.example"] }],
  ])("a %s channel is gone, and the others stay", async (channel, config) => {
    const { api } = await createOrganization();
    const kept = await createChannel(api, { channel, config });
    const id = await createChannel(api, { channel, config });
    const reply = await api.delete(`/alert-configs/${id}`);
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({ ok: true });
    expectEveryHeader(reply);
    expect(await listChannels(api)).toMatchObject([{ id: kept }]);
  });

  test("makes room for another channel when there are 20", async () => {
    const { api } = await createOrganization();
    const create = () => api.post("/alert-configs", { channel: "webhook", config: { url: publicUrl } });
    const created = await Promise.all(Array.from({ length: 20 }, create));
    expect(countStatuses(created)).toEqual({ 201: 20 });
    expect((await create()).status).toBe(400);
    expect((await api.delete(`/alert-configs/${created[7]?.body.id}`)).status).toBe(200);
    expect(countStatuses(await Promise.all([create(), create()]))).toEqual({ 201: 1, 400: 1 });
    expect(await listChannels(api)).toHaveLength(20);
  });

  test("removes the delivery history; that of another channel stays", async () => {
    const organization = await createOrganization();
    const { api, domainId } = organization;
    await api.post("/emails", { email: "ada@demo.example", domainId });
    const inboxes = [inboxOf(organization, "removed"), inboxOf(organization, "kept")] as const;
    const [removed, kept] = await Promise.all(
      inboxes.map((url) =>
        createChannel(api, { channel: "webhook", config: { url }, notifyOnScanComplete: true }),
      ),
    );
    await scanAndReceive(api, inboxes[0], 2);
    const history = await eventually(
      () => listDeliveries(organization, kept as number),
      (all) => all.length === 2 && all.every(({ status }) => status === "delivered"),
    );
    expect(await listDeliveries(organization, removed as number)).toHaveLength(2);
    expect((await api.delete(`/alert-configs/${removed}`)).status).toBe(200);
    await expect(listDeliveries(organization, removed as number)).rejects.toThrow("has no channel");
    expect(await listDeliveries(organization, kept as number)).toEqual(history);
    await scanAndReceive(api, inboxes[1], 3);
    expect(await receivedAt(inboxes[0])).toHaveLength(2);
  });

  test("its open deliveries are not tried again, and their history never comes back", async () => {
    const organization = await createOrganization();
    const { id: org, api, domainId } = organization;
    await api.post("/emails", { email: "nobody@demo.example", domainId });
    const inbox = inboxOf(organization, "failing");
    const url = `${inbox}?status=500`;
    const id = await createChannel(api, { channel: "webhook", config: { url }, ...onlyScanComplete });
    await scan(api);
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

describe("400", () => {
  test("an id that is not a plain decimal integer", async () => {
    const { api } = await createOrganization();
    for (const id of ["x", "0", "-1", "1.5", "1e3", "01"]) {
      expectRefusal(await api.delete(`/alert-configs/${id}`), 400, /^id/);
    }
  });
});

describe("404", () => {
  test("an id that is unknown or deleted", async () => {
    const { api } = await createOrganization();
    const deleted = await createChannel(api, { channel: "webhook", config: { url: publicUrl } });
    await api.delete(`/alert-configs/${deleted}`);
    for (const id of [unknownId, deleted]) {
      expectRefusal(await api.delete(`/alert-configs/${id}`), 404, /alert config/);
    }
  });
});
