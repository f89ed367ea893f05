/** Channels with the grouping `day` or `week` gather the findings of several scans in one delivery. */
import { TZDate } from "@date-fns/tz/date";
import * as organizations from "../../access/organizations/organization.ts";
import { asRead, condition, type Write } from "../../aws/table/condition.ts";
import { keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Channel } from "../channels/channel.ts";
import type { Grouping } from "../channels/channel-schema.ts";
import { deliveries, type Raised, raiseFor, reserveIds } from "../deliveries/delivery.ts";

/** The delivery that the channel gathers in until a time (ISO 8601). */
type Window = { deliveryId: number; until: string };

/**
 * Adds a scan to the delivery that the channel gathers in, or begins one. The writes fail when that delivery
 * is under way meanwhile.
 */
export const joinWindow = async (
  org: number,
  channel: Channel,
  scanId: number,
  grouping: "day" | "week",
): Promise<{ members: Raised["writes"]; also: Write[] }> => {
  const key = keys.gathering(org, channel.id);
  const [window, { timeZone }] = await Promise.all([table.get<Window>(key), organizations.existing(org)]);
  const until = endOfWindow(grouping, new Date(), timeZone).toISOString();
  if (window?.until === until) {
    const row = await deliveries.get(org, window.deliveryId);
    if (row?.dueAt === until && row.attempts === 0) {
      const isOpen = condition("#dueAt = :until AND #attempts = :none", { until, none: 0 });
      const update = deliveries.key(org, row.id);
      return { members: [], also: [{ update, add: { scans: new Set([scanId]) }, if: isOpen }] };
    }
  }
  const reserved = await reserveIds(org, 1);
  const deliveryId = reserved[0]?.id ?? 0;
  const { writes } = await raiseFor(
    org,
    [{ channel, event: { type: "gathered" }, scans: new Set([scanId]), until }],
    reserved,
  );
  const begun: Write = {
    update: key,
    set: { deliveryId, until, [timeToLive]: Date.parse(until) / 1000 + 24 * 3600 },
    if: asRead({ deliveryId: window?.deliveryId }),
  };
  return { members: writes, also: [begun] };
};

const hourOfWindows = 7;
const monday = 1;

/** The next 07:00 in a time zone of IANA's, or the next one of a Monday. */
export const endOfWindow = (
  grouping: Extract<Grouping, "day" | "week">,
  now: Date,
  timeZone = organizations.defaultTimeZone,
): Date => {
  const end = new TZDate(now, timeZone);
  end.setHours(hourOfWindows, 0, 0, 0);
  while (end <= now || (grouping === "week" && end.getDay() !== monday)) end.setDate(end.getDate() + 1);
  return new Date(end);
};
