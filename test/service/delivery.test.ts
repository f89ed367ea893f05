import { expect, test } from "vitest";
import * as byHand from "../../shared/alerting/attempts/by-hand.ts";
import type { Channel } from "../../shared/alerting/channels/channel.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { type Delivery, deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import * as transitions from "../../shared/alerting/deliveries/transitions.ts";
import { timestamp } from "../endpoints/reply.ts";
import { admin } from "./admin.ts";
import { createChannel, inboxOf, type ListedDelivery, listDeliveries } from "./alert-channels.ts";
import { eventually } from "./eventually.ts";
import { createOrganization } from "./organization.ts";

test("one command sends again what was given up of a channel, and nothing else", async () => {
  const organization = await createOrganization();
  const { api } = organization;
  const org = { org: organization.id };
  const createOff = (name: string) =>
    createChannel(api, {
      channel: "webhook",
      config: { url: inboxOf(organization, name) },
      isEnabled: false,
    });
  const [channel, other] = [await createOff("works"), await createOff("other")];
  const raise = async (id: number): Promise<number> =>
    (await admin("channel test", { ...org, channel: id })).id;
  /**
   * Raises a delivery that waits until its channel is enabled. Gives it up, as its last attempt would hours
   * later.
   */
  const giveUp = async (channelId: number): Promise<number> => {
    const id = await byHand.sendTest(
      organization.id,
      (await channels.get(organization.id, channelId)) as Channel,
    );
    await eventually(
      async () => {
        const row = (await deliveries.get(organization.id, id)) as Delivery;
        if (row.waits !== undefined) await transitions.giveUp(organization.id, row, "down");
        return deliveries.get(organization.id, id);
      },
      (row) => row?.status === "not delivered",
    );
    return id;
  };
  const [first, second, third] = [await giveUp(channel), await giveUp(channel), await giveUp(channel)];
  const spared = await giveUp(other);
  for (const id of [channel, other]) await api.patch(`/alert-configs/${id}`, { isEnabled: true });
  const delivered = await raise(channel);
  await eventually(
    () => listDeliveries(organization, channel),
    ([newest]) => newest?.id === delivered && newest?.status === "delivered",
  );

  const list = (flags: Record<string, string | number>) =>
    admin("delivery list", { ...org, channel, ...flags }) as Promise<{
      deliveries?: unknown;
      nextOffset?: number;
    }>;
  const idsIn = async (flags: Record<string, string | number>) => {
    const { deliveries: shown, nextOffset } = await list(flags);
    return { ids: (shown as ListedDelivery[]).map(({ id }) => id), nextOffset };
  };
  expect(await idsIn({})).toEqual({ ids: [delivered, third, second, first] });
  expect(await idsIn({ limit: 3 })).toEqual({ ids: [delivered, third, second], nextOffset: 3 });
  expect(await idsIn({ limit: 3, offset: 3 })).toEqual({ ids: [first] });
  expect(await idsIn({ status: "not-delivered", limit: 2 })).toEqual({ ids: [third, second], nextOffset: 2 });
  expect(await idsIn({ status: "not-delivered", limit: 2, offset: 2 })).toEqual({ ids: [first] });
  expect(await idsIn({ status: "delivered" })).toEqual({ ids: [delivered] });
  await expect(list({ status: "gone" })).rejects.toThrow(/^--status: .*pending, .*not-delivered\.$/);
  await expect(list({ limit: 1001 })).rejects.toThrow("--limit: must be from 1 to 1000.");

  const retry = () => admin("delivery retry", { ...org, channel });
  expect(await retry()).toEqual({ channelId: channel, retried: 3 });
  // daily.test.ts has what sends them.
  for (const id of [first, second, third])
    expect(await deliveries.get(organization.id, id)).toMatchObject({ status: "retrying", dueAt: timestamp });
  expect(await retry()).toEqual({ channelId: channel, retried: 0 });
  expect(await deliveries.get(organization.id, spared)).toMatchObject({ status: "not delivered" });

  expect(await admin("delivery retry", { ...org, delivery: delivered })).toEqual({
    id: delivered,
    attempt: 2,
  });
  for (const flags of [{}, { channel, delivery: 1 }]) {
    await expect(admin("delivery retry", { ...org, ...flags })).rejects.toThrow(
      "Give --delivery for one, or --channel for all of a channel that were given up.",
    );
  }
  for (const what of ["channel", "delivery"]) {
    await expect(admin("delivery retry", { ...org, [what]: 999_999_999 })).rejects.toThrow(
      `The organization has no ${what} 999999999: "${what} list" shows those that there are.`,
    );
  }
  await api.patch(`/alert-configs/${channel}`, { isEnabled: false });
  await expect(raise(channel)).rejects.toThrow("The alert config is disabled");
  await expect(retry()).rejects.toThrow("The alert config is disabled");
  await admin("org billing", { ...org, status: "subscription_inactive" });
  for (const act of [() => raise(other), () => admin("delivery retry", { ...org, delivery: spared })])
    await expect(act()).rejects.toThrow("The organization's subscription is not active: renew it");
});
