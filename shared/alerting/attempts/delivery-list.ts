/** Deliveries as the dashboard shows them. */

import * as organizations from "../../access/organizations/organization.ts";
import { condition } from "../../aws/table/condition.ts";
import { Refusal } from "../../contract/errors.ts";
import * as counts from "../../counts/counts.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import { emails } from "../../monitoring/emails/record.ts";
import * as channels from "../channels/channel.ts";
import type { AlertConfig, DetailedAlertConfig } from "../channels/channel-schema.ts";
import { type Delivery, deliveries, isOfChannel, typeOf, waitsForOf } from "../deliveries/delivery.ts";
import type { DeliveryInFull, DeliveryStatus, ListedDelivery } from "../deliveries/delivery-schema.ts";
import { consentsOf, fingerprint } from "../kinds/email/recipient.ts";
import { textOf } from "../kinds/senders.ts";
import { readContent } from "../messages/content.ts";
import { breachesInTitle, titleOf } from "../messages/title.ts";
import { toldOf } from "../messages/told.ts";
import { channelOf } from "../owners/owner.ts";

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
  "headline",
  "waits",
  "lastResponse",
] as const;
export type Shown = Pick<Delivery, "id" | (typeof shownAttributes)[number]>;

/** What the rows of deliveries name by ids. */
type Named = { titles: Parameters<typeof titleOf>[1]; addresses: ReadonlyMap<number, string> };

const readNamed = async (org: number, rows: readonly Shown[]): Promise<Named> => {
  const owners = rows.flatMap(({ event }) => (event.type === "owner" ? [event.email.id] : []));
  const [titles, emailRows] = await Promise.all([
    breachDetails.details(breachesInTitle(rows)),
    emails.getMany(org, owners),
  ]);
  return { titles, addresses: new Map(emailRows.flatMap((row) => (row ? [[row.id, row.email]] : []))) };
};

const ownerIn = ({ event }: Shown, { addresses }: Named): ListedDelivery["owner"] => {
  const emailId = event.type === "owner" ? event.email.id : 0;
  const email = addresses.get(emailId);
  return email === undefined ? null : { emailId, email };
};

const shown = (row: Shown, named: Named, channel: channels.AnyChannel): ListedDelivery => ({
  id: row.id,
  type: typeOf(row.event),
  status: row.status,
  attempts: row.attempts,
  failedAttempts: row.failedAttempts,
  createdAt: row.createdAt,
  lastAttemptAt: row.lastAttemptAt,
  nextAttemptAt: row.dueAt ?? null,
  failureReason: row.failureReason,
  title: titleOf(row, named.titles, channels.optionsOf(channel).sensitive === "discreet"),
  owner: ownerIn(row, named),
  waitsFor: waitsForOf(row, new Date()),
  lastResponse: row.lastResponse ?? null,
});

type Query = { limit: number; offset: number; status?: DeliveryStatus | undefined };

/** A channel with a page of its deliveries, newest first, and how many match. Refuses `channelNotFound`. */
export const list = async (
  org: number,
  channelId: number,
  query: Query,
): Promise<{
  channel: (AlertConfig & Pick<DetailedAlertConfig, "options">) | null;
  deliveries: ListedDelivery[];
  total: number;
}> => {
  const [channel, { rows, total }] = await Promise.all([
    channelOf(org, channelId),
    page(org, channelId, query),
  ]);
  if (channel === undefined) throw new Refusal("channelNotFound");
  const named = await readNamed(org, rows);
  return {
    channel: channels.isSetUp(channel)
      ? { ...channels.shown(org, channel), options: channels.optionsOf(channel) }
      : null,
    deliveries: rows.map((row) => shown(row, named, channel)),
    total,
  };
};

/**
 * A delivery with the content of its last attempt. It is made again from findings, since no delivery holds an
 * address. Refuses `channelNotFound` and `deliveryNotFound`.
 */
export const get = async (
  org: number,
  channelId: number,
  id: number,
  dashboardUrl: string,
): Promise<DeliveryInFull> => {
  const [channel, owner, row] = await Promise.all([
    channelOf(org, channelId),
    organizations.get(org),
    deliveries.get(org, id),
  ]);
  if (channel === undefined) throw new Refusal("channelNotFound");
  if (row === undefined || deliveries.groupOf(row).channelId !== channelId)
    throw new Refusal("deliveryNotFound");
  const { lastAttemptAt } = row;
  const [named, content, unreached] = await Promise.all([
    readNamed(org, [row]),
    readContent(org, row, channel),
    unreachedOf(org, row, channel),
  ]);
  const context = { organizationName: owner?.name ?? "", dashboardUrl };
  const payload =
    lastAttemptAt === null || content === undefined
      ? null
      : textOf(channel)(toldOf(content, context), { deliveryId: id, at: new Date(lastAttemptAt) });
  return { ...shown(row, named, channel), unreached, payload };
};

/** Recipients whom failed attempts did not reach. */
const unreachedOf = async (
  org: number,
  { status, failedAttempts, reached }: Delivery,
  channel: channels.AnyChannel,
): Promise<string[]> => {
  const recipients = channels.recipientsOf(channel);
  if (recipients.length === 0 || failedAttempts === 0 || status === "delivered") return [];
  const consents = await consentsOf(org, recipients);
  return recipients.filter(
    (each, index) => consents[index] !== "refused" && reached?.has(fingerprint(org, each)) !== true,
  );
};

/**
 * The same page as rows. With a `status`, which no tally counts, every block that holds deliveries of the
 * channel is read: about 50 read units for 512 deliveries.
 */
export const page = async (
  org: number,
  channelId: number,
  { status, limit, offset }: Query,
): Promise<{ rows: Shown[]; total: number }> => {
  if (status !== undefined) return pageOfStatus(org, channelId, { status, limit, offset });
  const { items, total } = await deliveries.page(org, {
    limit,
    offset,
    matches: isOfChannel(channelId),
    attributes: shownAttributes,
  });
  return { rows: items, total };
};

const pageOfStatus = async (
  org: number,
  channelId: number,
  { status, limit, offset }: Query & { status: DeliveryStatus },
): Promise<{ rows: Shown[]; total: number }> => {
  const none = { rows: [], total: 0 };
  if (status === "not delivered" && !(await counts.read(org)).notDelivered.has(channelId)) return none;
  const blocks = deliveries.blocks(await deliveries.tally(org), isOfChannel(channelId)).reverse();
  const where = condition("#group = :groupKey AND #status = :status", {
    groupKey: deliveries.groupKeyOf({ channelId }),
    status,
  });
  const project = ["id", ...shownAttributes];
  const rows: Shown[] = [];
  let total = 0;
  // Only the page's rows are kept: those of a channel may not fit into memory.
  for await (const some of deliveries.membersOf(org, blocks, { where, project, descending: true })) {
    rows.push(...some.slice(Math.max(0, offset - total), Math.max(0, offset + limit - total)));
    total += some.length;
  }
  return { rows, total };
};

/** The channels, newest first, with their options and how their deliveries fare. */
export const inDetail = async (org: number): Promise<DetailedAlertConfig[]> => {
  const [all, { notDelivered }] = await Promise.all([channels.list(org), counts.read(org)]);
  return all.map((channel) => ({
    ...channels.shown(org, channel),
    options: channels.optionsOf(channel),
    failing: channel.failingSince !== undefined,
    failingSince: channel.failingSince ?? null,
    notDelivered: notDelivered.get(channel.id) ?? 0,
    lastDeliveredAt: channel.lastDeliveredAt ?? null,
  }));
};
