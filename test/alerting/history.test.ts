import { expect, test } from "vitest";
import { administrator } from "../../shared/access/activity/actor.ts";
import { remove } from "../../shared/alerting/channels/remove.ts";
import { deliveries } from "../../shared/alerting/deliveries/delivery.ts";
import { deleteHistory } from "../../shared/alerting/deliveries/history.ts";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import { createOrganization, useWorkers } from "../scanning/in-process-workers.ts";
import { createChannel, raiseTo } from "./channels.ts";

useWorkers();

/** A removed channel that has this many deliveries. */
const removedChannelWith = async (count: number) => {
  const org = await createOrganization({});
  const id = await createChannel(org);
  await raiseTo(org, id, Array(count).fill({ type: "scan_error", error: "a problem" }));
  await remove(org, id, administrator);
  return {
    org,
    id,
    count: async () => deliveries.sum(await deliveries.tally(org)),
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
