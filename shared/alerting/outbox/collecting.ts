/**
 * What a scan has found so far, in one row for each scan. It keeps how each channel is told, since options
 * may change while the scan runs. It keeps which findings the first message tells.
 */
import { absent, asRead, type Write } from "../../aws/table/condition.ts";
import { lostAfterSeconds, secondsAfter } from "../../contract/alert-timing.ts";
import { due, keyOfScan, type NewFindings } from "../../outbox/outbox.ts";
import { type Channel, optionsOf } from "../channels/channel.ts";
import type { Grouping } from "../channels/channel-schema.ts";
import { type Share, widened } from "../deliveries/share.ts";

export type Collecting = {
  type: "collecting";
  scanId: number;
  /** By channel: its grouping when the first of the findings that it may be told of was collected. */
  groupings: Record<string, Grouping>;
  /** What the first message tells: the ranges of findings, and the sensitive breaches among them. */
  ranges: Share["ranges"];
  sensitive: number[];
  /** When the first message is due, if the scan still runs then. ISO 8601. */
  firstMessageAt?: string;
  /**
   * By channel that has got the first message: the sensitive breaches that it left apart. Nothing is added to
   * `ranges` from then on.
   */
  reported?: Record<string, number[]>;
  /** Counts the changes of the row. */
  step: number;
};

/**
 * The row with these findings. Undefined: it stays as it is. `wanting`: the channels that want new breaches.
 */
export const collected = (
  before: Collecting | undefined,
  rows: readonly NewFindings[],
  wanting: readonly Channel[],
  firstMessageSeconds: number,
): Collecting | undefined => {
  const [first] = rows;
  if (first === undefined) return undefined;
  const { scanId, isFirst } = first;
  const known = before?.groupings ?? {};
  const added = wanting.filter(({ id }) => known[id] === undefined);
  const groupings = {
    ...known,
    ...Object.fromEntries(added.map((channel) => [channel.id, optionsOf(channel).grouping])),
  };
  // Whether a first scan is to be summed up shows at its end.
  const isForFirst = !isFirst && before?.reported === undefined && Object.values(groupings).includes("scan");
  if (added.length === 0 && !isForFirst) return undefined;
  const { ranges = [], sensitive = [], step = 0, firstMessageAt } = before ?? {};
  const collecting = { type: "collecting" as const, scanId, groupings, ranges, sensitive, step: step + 1 };
  if (!isForFirst) return { ...before, ...collecting };
  return {
    ...collecting,
    ranges: widened(
      ranges,
      rows.flatMap(({ findingIds }) => [...findingIds]),
    ),
    sensitive: [...new Set([...sensitive, ...rows.flatMap((row) => [...(row.sensitive ?? [])])])],
    firstMessageAt: firstMessageAt ?? secondsAfter(new Date(), firstMessageSeconds),
  };
};

/** The write of the row as `collected` gave it, which fails when it has changed since `before` was read. */
export const writeOf = (org: number, before: Collecting | undefined, after: Collecting): Write => ({
  put: {
    ...keyOfScan(org, after.scanId, "collecting"),
    ...after,
    ...(after.firstMessageAt !== undefined &&
      due(org, secondsAfter(new Date(after.firstMessageAt), lostAfterSeconds))),
  },
  if: before === undefined ? absent : asRead({ step: before.step }),
});

/**
 * Sensitive breaches wait for the scan's end where they are told without names: right after a name, "1
 * person" would say whose it is.
 */
export const apartFor = ({ sensitive }: Collecting, channel: Channel): number[] =>
  optionsOf(channel).sensitive === "discreet" ? sensitive : [];

/** What the first message has told a channel. Undefined: it got none. */
export const reportedTo = ({ ranges, reported = {} }: Collecting, channel: Channel): Share | undefined => {
  const apart = reported[channel.id];
  return apart && { ranges, apart };
};
