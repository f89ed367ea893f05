/**
 * Which messages about new breaches go out while a scan runs. The first findings of a channel that gathers go out at once, and the
 * others are held until the scan ends (gathered.ts). A row for each scan and channel says which findings are told already; it is written
 * in the transaction that records the findings and their deliveries, so that each finding is in exactly one message.
 */
import { condition, type Write } from "../../aws/table/condition.ts";
import { keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { levelOf } from "../../monitoring/hibp/severity.ts";
import { type Channel, groupingIn, optionsOf, wants } from "../channels/channel.ts";
import type { AlertEvent } from "../deliveries/delivery.ts";

/** Messages of one scan to a channel that go out before the scan ends; one more follows at its end. */
export const maximumEarly = 4;

/** Longer than any scan lasts. */
const toldSeconds = 14 * 24 * 3600;

/** What a scan found for one e-mail: its findings with the severity of each as a level. */
export type Found = {
  emailId: number;
  breaches: readonly { breachId: number; findingId: number; level: number; isSensitive: boolean }[];
};

/** What a channel was told of a scan. */
export type Told = { channelId: number; messages: number; findings: Set<number>; isHeld: boolean };

/** `isFirst`: no scan of the organization has completed before. */
export type ScanOfFindings = { id: number; isFirst: boolean };

export const gathers = (channel: Channel, scanId: number): boolean =>
  groupingIn(channel, scanId) !== "address";

/** By channel. Channels that were told nothing yet are missing. */
export const readTold = async (
  org: number,
  scanId: number,
  channels: readonly Channel[],
): Promise<Map<number, Told>> => {
  const rows = await table.getMany<Partial<Told>>(channels.map(({ id }) => keys.told(org, scanId, id)));
  const told = channels.map(({ id: channelId }, index): Told | undefined => {
    const row = rows[index];
    return row && { channelId, messages: 0, findings: new Set(), isHeld: false, ...row };
  });
  return new Map(told.flatMap((each) => (each ? [[each.channelId, each]] : [])));
};

/** An event of those of an e-mail's new findings that a channel wants. `isRest`: its sensitive ones are left for a message that names nobody. */
export const singleFor = (
  channel: Channel,
  scanId: number,
  { emailId, breaches }: Found,
  { isGathering }: { isGathering: boolean },
): { single: AlertEvent | undefined; isRest: boolean } => {
  const { minSeverity, sensitive } = optionsOf(channel);
  const isWebhook = channel.channel === "webhook";
  const wanted = breaches.filter(({ level }) => level >= levelOf(minSeverity));
  const told = wanted
    // A second message beside the one that names the person would say whose breach it is. Without gathering, one message holds both and names nobody.
    .filter(({ isSensitive }) => !(isSensitive && sensitive === "discreet" && (isWebhook || isGathering)))
    // Worst first, as messages show them.
    .sort((one, other) => other.level - one.level);
  const single: AlertEvent = {
    type: "breach",
    scanId,
    breachIds: told.map(({ breachId }) => breachId),
    email: { id: emailId, findingIds: told.map(({ findingId }) => findingId) },
  };
  return {
    single: told.length > 0 ? single : undefined,
    isRest: !isWebhook && told.length < wanted.length,
  };
};

/** `told`: what this adds to the rows of the channels. */
export type Allotted = { wanted: { event: AlertEvent; channel: Channel }[]; told: Told[] };

/** Decides which channels are told of the findings now, given what was told before. */
export const allot = (
  scan: ScanOfFindings,
  channels: readonly Channel[],
  before: ReadonlyMap<number, Told>,
  found: Found,
): Allotted => {
  const allotted: Allotted = { wanted: [], told: [] };
  for (const channel of channels.filter((each) => wants(each, "breach"))) {
    const grouping = groupingIn(channel, scan.id);
    const isGathering = grouping !== "address";
    const { single, isRest } = singleFor(channel, scan.id, found, { isGathering });
    const { messages = 0, isHeld = false } = before.get(channel.id) ?? {};
    // Whether a first scan is summed up shows at its end.
    const isEarly = !isGathering || (grouping === "scan" && !scan.isFirst && messages < maximumEarly);
    const early = isEarly && single !== undefined ? [single] : [];
    allotted.wanted.push(...early.map((event) => ({ event, channel })));
    const holds = !isHeld && (isRest || (single !== undefined && !isEarly));
    if (isGathering && (early.length > 0 || holds)) {
      const findings = new Set(early.flatMap(findingsOf));
      allotted.told.push({ channelId: channel.id, messages: early.length, findings, isHeld: holds });
    }
  }
  return allotted;
};

export const findingsOf = (event: AlertEvent): number[] =>
  event.type === "breach" ? event.email.findingIds : [];

/** What was told before and is about to be. That something is held counts once it is written. */
export const withTold = (before: ReadonlyMap<number, Told>, more: readonly Told[]): Map<number, Told> => {
  const after = new Map(before);
  for (const { channelId, messages } of more) {
    const earlier = after.get(channelId) ?? { channelId, messages: 0, findings: new Set(), isHeld: false };
    after.set(channelId, { ...earlier, messages: earlier.messages + messages });
  }
  return after;
};

/** The writes for the transaction of the findings; they fail where other workers have told more since the rows were read. */
export const toldWrites = (org: number, scanId: number, told: readonly Told[]): Write[] =>
  [...Map.groupBy(told, ({ channelId }) => channelId)].map(([channelId, ofChannel]): Write => {
    const messages = ofChannel.reduce((sum, each) => sum + each.messages, 0);
    return {
      update: keys.told(org, scanId, channelId),
      add: {
        ...(messages > 0 && { messages }),
        findings: new Set(ofChannel.flatMap(({ findings }) => [...findings])),
      },
      setOnce: {
        ...(ofChannel.some(({ isHeld }) => isHeld) && { isHeld: true }),
        [timeToLive]: Math.floor(Date.now() / 1000) + toldSeconds,
      },
      ...(messages > 0 && {
        if: condition("attribute_not_exists(#messages) OR #messages <= :most", {
          most: maximumEarly - messages,
        }),
      }),
    };
  });
