import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import * as channels from "../../shared/alerting/channels/channel.ts";
import { remove } from "../../shared/alerting/channels/remove.ts";
import { deliveries, raiseFor } from "../../shared/alerting/deliveries/delivery.ts";
import { deleteHistory } from "../../shared/alerting/deliveries/history.ts";
import { chunk } from "../../shared/aws/table/chunk.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { createOrganization, useWorkers } from "../scanning/in-process-workers.ts";
import { createChannel } from "./channels.ts";

useWorkers();

/** A removed channel that has this many deliveries. */
const removedChannelWith = async (count: number) => {
  const org = await createOrganization({});
  const id = await createChannel(org);
  const channel = (await channels.get(org, id)) as channels.Channel;
  const event = { type: "scan_error", error: "a problem" } as const;
  const { writes } = await raiseFor(
    org,
    Array.from({ length: count }, () => ({ event, channel })),
  );
  for (const part of chunk(writes, 50)) await table.transact(deliveries.writes(org, part));
  await remove(org, id, administrator);
  return {
    org,
    id,
    count: async () => deliveries.sum(await deliveries.directory(org)),
    isRemovalOpen: async () => (await table.get(keys.channelRemoval(org, id))) !== undefined,
  };
};

test("a history of more deliveries than a transaction takes is deleted in steps", async () => {
  const channel = await removedChannelWith(150);
  expect(await channel.count()).toBe(150);
  let calls = 0;
  await deleteHistory(channel.org, channel.id, () => ++calls === 1);
  expect(await channel.count()).toBeGreaterThan(0);
  expect(await channel.count()).toBeLessThan(150);
  expect(await channel.isRemovalOpen()).toBe(true);
  await deleteHistory(channel.org, channel.id, () => true);
  expect(await channel.count()).toBe(0);
  expect(await channel.isRemovalOpen()).toBe(false);
});
