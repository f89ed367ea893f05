/** What a webhook was told, read again by the id of its envelope, which is that of the delivery. */

import { Refusal } from "../contract/errors.ts";
import * as detailed from "../findings/detailed.ts";
import * as scanList from "../scanning/scan-list.ts";
import * as channels from "./channels/channel.ts";
import { deliveries, findingIdsOf, typeOf } from "./deliveries/delivery.ts";
import type { EventInFull } from "./event-schema.ts";

/** The event with its findings as they are now. Refuses `eventNotFound`, also once its channel is removed. */
export const get = async (org: number, id: number, now: Date): Promise<EventInFull> => {
  const row = await deliveries.get(org, id);
  if (row === undefined) throw new Refusal("eventNotFound");
  const { event, createdAt } = row;
  const { scanId } = event;
  const [channel, findings, scan] = await Promise.all([
    channels.get(org, deliveries.groupOf(row).channelId),
    detailed.getMany(org, findingIdsOf(event)),
    scanId === undefined ? null : scanList.get(org, scanId, now),
  ]);
  // The history of a removed channel is deleted after it.
  if (channel === undefined) throw new Refusal("eventNotFound");
  return { id, type: typeOf(event), createdAt, findings, scan };
};
