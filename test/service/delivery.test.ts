import { expect, test } from "vitest";
import { ofChannel } from "../../shared/alerting/deliveries/delivery.ts";
import * as transitions from "../../shared/alerting/deliveries/transitions.ts";
import { admin } from "./admin.ts";
import { createChannel, inboxOf, type ListedDelivery, listDeliveries } from "./alert-channels.ts";
import { eventually } from "./eventually.ts";
import { createOrganization } from "./organization.ts";
import { receivedAt } from "./receiver.ts";

test("one command sends again what was given up of a channel, and nothing else", async () => {
  const organization = await createOrganization();
  const { api } = organization;
  const org = { org: organization.id };
  const createFailing = () => {
    const url = `${inboxOf(organization, "fails")}?status=500`;
    return createChannel(api, { channel: "webhook", config: { url } });
  };
  const [channel, other] = [await createFailing(), await createFailing()];
  const raise = async (id: number): Promise<number> =>
    (await admin("channel test", { ...org, channel: id })).id;
  /** Gives up the open deliveries of a channel, as their last attempts would hours later. */
  const giveUp = (id: number) =>
    eventually(
      async () => {
        for await (const rows of ofChannel(organization.id, id)) {
          for (const row of rows)
            if (row.dueAt !== undefined) await transitions.giveUp(organization.id, row, "down");
        }
        return listDeliveries(organization, id);
      },
      (all) => all.every(({ status, attempts }) => status === "not delivered" && attempts > 0),
    );
  const [first, second, third] = [await raise(channel), await raise(channel), await raise(channel)];
  const spared = await raise(other);
  for (const id of [channel, other]) {
    await eventually(
      () => listDeliveries(organization, id),
      (all) => all.every(({ attempts }) => attempts > 0),
    );
    await giveUp(id);
  }
  const inbox = inboxOf(organization, "works");
  await api.patch(`/alert-configs/${channel}`, { config: { url: inbox } });
  const delivered = await raise(channel);
  await eventually(
    () => listDeliveries(organization, channel),
    ([newest]) => newest?.id === delivered && newest?.status === "delivered",
  );
  // The other channel is also told that this one sends elsewhere now.
  const ofOther = async () => (await listDeliveries(organization, other)).find(({ id }) => id === spared);
  const before = await ofOther();
  expect(before).toMatchObject({ status: "not delivered" });

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
  await eventually(
    () => listDeliveries(organization, channel),
    (all) => all.every(({ status }) => status === "delivered"),
  );
  expect(await retry()).toEqual({ channelId: channel, retried: 0 });
  const accepted = (await receivedAt(inbox)).map(({ body }) => JSON.parse(body.toString()).id);
  expect(new Set(accepted)).toEqual(new Set([first, second, third, delivered]));
  // One that is sent again is open, and counts its attempts.
  expect(await ofOther()).toEqual(before);

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
