/** Deliveries as the dashboard shows them. */

import * as organizations from "../../access/organizations/organization.ts";
import { chunk } from "../../aws/table/chunk.ts";
import { condition } from "../../aws/table/condition.ts";
import { Refusal } from "../../contract/errors.ts";
import * as counts from "../../lists/counts.ts";
import * as breachDetails from "../../monitoring/hibp/breach-details.ts";
import * as channels from "../channels/channel.ts";
import type { DetailedAlertConfig } from "../channels/channel-schema.ts";
import { payloadOf } from "../senders/send.ts";
import { readContent } from "../senders/summary.ts";
import { breachesInTitle, titleOf } from "../senders/title.ts";
import { type Delivery, deliveries, typeOf, type WaitsFor, waitsForOf } from "./delivery.ts";
import type { DeliveryInFull, DeliveryStatus, ListedDelivery } from "./delivery-schema.ts";

const shownAttributes = [
  "createdAt",
  "event",
  "status",
  "attempts",
  "failedAttempts",
  "lastAttemptAt",
  "dueAt",
  "failureReason",
  "lease",
  "waits",
  "lastResponse",
] as const;
export type Shown = Pick<Delivery, "id" | (typeof shownAttributes)[number]>;

type Titles = Parameters<typeof titleOf>[1];

const shown = (row: Shown, titles: Titles, channel: channels.Channel): ListedDelivery => ({
  id: row.id,
  type: typeOf(row.event),
  status: row.status,
  attempts: row.attempts,
  failedAttempts: row.failedAttempts,
  createdAt: row.createdAt,
  lastAttemptAt: row.lastAttemptAt,
  nextAttemptAt: row.dueAt ?? null,
  failureReason: row.failureReason,
  title: titleOf(row.event, titles, channels.optionsOf(channel).sensitive === "discreet"),
  waitsFor: waitsForOf(row, new Date()) ?? waitsAfterFailure(row),
  lastResponse: row.lastResponse ?? null,
});

const waitsAfterFailure = ({ status, dueAt, lease }: Shown): WaitsFor | null =>
  status === "retrying" && dueAt !== undefined && lease === undefined
    ? { reason: "another attempt, after one that failed", until: dueAt }
    : null;

type Query = { limit: number; offset: number; status?: DeliveryStatus | undefined };

/**
 * A page of a channel's deliveries, newest first, and how many match. Refuses `channelNotFound`.
 */
export const list = async (
  org: number,
  channelId: number,
  query: Query,
): Promise<{ deliveries: ListedDelivery[]; total: number }> => {
  const [channel, { rows, total }] = await Promise.all([
    channels.get(org, channelId),
    page(org, channelId, query),
  ]);
  if (channel === undefined) throw new Refusal("channelNotFound");
  const titles = await breachDetails.details(breachesInTitle(rows.map(({ event }) => event)));
  return { deliveries: rows.map((row) => shown(row, titles, channel)), total };
};

/**
 * A delivery with what its last attempt sent, made again from what is stored, since no delivery holds an address. Refuses
 * `channelNotFound` and `deliveryNotFound`.
 */
export const get = async (
  org: number,
  channelId: number,
  id: number,
  dashboardUrl: string | undefined,
): Promise<DeliveryInFull> => {
  const [channel, owner, row] = await Promise.all([
    channels.get(org, channelId),
    organizations.get(org),
    deliveries.get(org, id),
  ]);
  if (channel === undefined) throw new Refusal("channelNotFound");
  if (row === undefined || deliveries.groupOf(row).channelId !== channelId)
    throw new Refusal("deliveryNotFound");
  const { event, lastAttemptAt } = row;
  const [titles, content] = await Promise.all([
    breachDetails.details(breachesInTitle([event])),
    readContent(org, row, channel),
  ]);
  const context = { organizationName: owner?.name ?? "", dashboardUrl };
  const payload =
    lastAttemptAt === null || content === undefined
      ? null
      : payloadOf(channel.channel, { deliveryId: id, at: new Date(lastAttemptAt) }, content, context);
  return { ...shown(row, titles, channel), payload };
};

/**
 * The same page as rows, also of a channel that was removed. With a `status`, which no directory counts, every block that
 * holds deliveries of the channel is read: about 50 read units for 512 deliveries.
 */
export const page = async (
  org: number,
  channelId: number,
  { status, limit, offset }: Query,
): Promise<{ rows: Shown[]; total: number }> => {
  if (status !== undefined) return pageOfStatus(org, channelId, { status, limit, offset });
  const matches = isOfChannel(channelId);
  const attributes = shownAttributes;
  const { items, total } = await deliveries.page(org, { limit, offset, matches, attributes });
  return { rows: items, total };
};

const isOfChannel =
  (channelId: number) =>
  (group: { channelId: number }): boolean =>
    group.channelId === channelId;

/** Blocks read at the same time. */
const concurrency = 16;

const pageOfStatus = async (
  org: number,
  channelId: number,
  { status, limit, offset }: Query & { status: DeliveryStatus },
): Promise<{ rows: Shown[]; total: number }> => {
  const none = { rows: [], total: 0 };
  if (status === "not delivered" && !(await counts.read(org)).notDelivered.has(channelId)) return none;
  const blocks = deliveries.blocks(await deliveries.directory(org), isOfChannel(channelId)).reverse();
  const where = condition("#group = :groupKey AND #status = :status", {
    groupKey: deliveries.groupKeyOf({ channelId }),
    status,
  });
  const ids: number[] = [];
  for (const part of chunk(blocks, concurrency)) {
    const found = await Promise.all(
      part.map((block) => deliveries.members(org, block, { where, project: ["id"] })),
    );
    for (const rows of found) ids.push(...rows.map(({ id }) => id).reverse());
  }
  const rows = await deliveries.getMany(org, ids.slice(offset, offset + limit));
  return {
    rows: rows.filter((row) => row !== undefined && row.status === status) as Shown[],
    total: ids.length,
  };
};

/** Deliveries at the end of a block among which the latest of each channel mostly is. */
const usuallyEnough = 32;

export type Health = {
  /** The status of the latest delivery, if there is one. */
  latest: DeliveryStatus | undefined;
  /** When the newest of the latest deliveries that arrived did; undefined if none of them did. ISO 8601. */
  deliveredAt: string | undefined;
};

/** Whether a channel's latest delivery is yet to arrive after an attempt that failed, or was given up. */
export const isFailing = ({ latest }: Health): boolean => latest === "retrying" || latest === "not delivered";

/** The channels, newest first, with what became of each one's latest deliveries. Two trips, mostly. */
export const healthOf = async (org: number): Promise<({ channel: channels.Channel } & Health)[]> => {
  const [all, directory] = await Promise.all([channels.list(org), deliveries.directory(org)]);
  const latest = new Map<number, DeliveryStatus>();
  const deliveredAt = new Map<number, string>();
  const channelsOfBlock = new Map<number, number[]>();
  for (const { id: channelId } of all) {
    const groupKey = deliveries.groupKeyOf({ channelId });
    const block = directory.find(({ counts: inBlock }) => (inBlock.get(groupKey) ?? 0) > 0)?.block;
    if (block !== undefined) channelsOfBlock.set(block, [...(channelsOfBlock.get(block) ?? []), channelId]);
  }
  const note = (
    block: number,
    rows: readonly Pick<Delivery, "id" | "group" | "status" | "lastAttemptAt">[],
  ): void => {
    for (const row of rows.toSorted((one, other) => other.id - one.id)) {
      const { channelId } = deliveries.groupOf(row);
      if (!channelsOfBlock.get(block)?.includes(channelId)) continue;
      if (!latest.has(channelId)) latest.set(channelId, row.status);
      if (row.status === "delivered" && row.lastAttemptAt !== null && !deliveredAt.has(channelId))
        deliveredAt.set(channelId, row.lastAttemptAt);
    }
  };
  const project = ["id", "group", "status", "lastAttemptAt"];
  await Promise.all(
    [...channelsOfBlock].map(async ([block, inBlock]) => {
      note(block, await deliveries.members(org, block, { descending: true, limit: usuallyEnough, project }));
      if (inBlock.some((channelId) => !latest.has(channelId)))
        note(block, await deliveries.members(org, block, { project }));
    }),
  );
  return all.map((channel) => ({
    channel,
    latest: latest.get(channel.id),
    deliveredAt: deliveredAt.get(channel.id),
  }));
};

/** The channels, newest first, with their options and how their deliveries fare. */
export const inDetail = async (org: number): Promise<DetailedAlertConfig[]> => {
  const [all, { notDelivered }] = await Promise.all([healthOf(org), counts.read(org)]);
  return all.map(({ channel, ...health }) => ({
    ...channels.shown(org, channel),
    options: channels.optionsOf(channel),
    failing: isFailing(health),
    failingSince: channel.failingSince ?? null,
    notDelivered: notDelivered.get(channel.id) ?? 0,
    lastDeliveredAt: health.deliveredAt ?? null,
  }));
};
