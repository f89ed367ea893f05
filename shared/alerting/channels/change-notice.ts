/**
 * Reports changes of channels, so that nobody with a key or a session sends alerts elsewhere or silences them
 * unseen. The activity log says what changed, without values. The admins get an e-mail when alerts go to other
 * receivers, or to none. Neither channels' flags nor the budget of e-mails stop it. Other channels that want
 * `scan_error` hear of the same changes, and of each that makes a channel tell less. Webhooks hear of a new
 * channel, and of one that tells less, only if a person did it: programs set up their own webhooks with a key.
 */
import { isDeepStrictEqual } from "node:util";
import type { Actor } from "../../access/activity/actor.ts";
import { countQuieted } from "../../access/api/limits.ts";
import { newNoticesToAdmins } from "../../access/notices/notice.ts";
import { condition, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { problemOccurred, wake } from "../../outbox/outbox.ts";
import type { ChannelForm } from "../kinds/kind.ts";
import { kindOf } from "../kinds/kinds.ts";
import { type Channel, describe, type Flags, wants } from "./channel.ts";

/** A channel as it was and as it will be, and all others of the organization. */
type ChannelChange = {
  before: Channel;
  /** Undefined: it is deleted. */
  after: Channel | undefined;
  /** Whether it sends to another destination than before. */
  isMoved: boolean;
  /** What makes it tell less, or lets its receiver refuse it, in the words of the activity log. */
  quieted: readonly string[];
  otherChannels: readonly Channel[];
};

/** What differs between the forms of a channel before and after a change, in the words of the activity log. */
export const formChanges = (before: ChannelForm, after: ChannelForm): string[] => [
  ...(before.channel === after.channel ? [] : ["kind changed"]),
  ...(isOtherDestination(before, after) ? ["destination changed"] : []),
  ...secretChange(secretOf(before), secretOf(after)),
];

/** What differs between the flags, in the same words. */
export const flagChanges = (before: Flags, after: Flags): string[] =>
  flagNames
    .filter((flag) => before[flag] !== after[flag])
    .map((flag) => `${wordsOfFlags[flag]} turned ${after[flag] ? "on" : "off"}`);

/** What makes a channel tell less, or lets its receiver refuse it: flags turned off, and another secret. */
export const quietedBy = (
  flags: { before: Flags; after: Flags },
  forms: { before: ChannelForm; after: ChannelForm } | undefined,
): string[] => [
  ...(forms ? secretChange(secretOf(forms.before), secretOf(forms.after)) : []),
  ...flagNames
    .filter((flag) => flags.before[flag] && !flags.after[flag])
    .map((flag) => `${wordsOfFlags[flag]} turned off`),
];

const wordsOfFlags: Record<keyof Flags, string> = {
  notifyOnNewBreach: "alerts of new breaches",
  notifyOnScanComplete: "alerts of completed scans",
  notifyOnScanError: "alerts of scan errors",
  isEnabled: "channel",
};
const flagNames = Object.keys(wordsOfFlags) as (keyof Flags)[];

const secretOf = (form: ChannelForm): string | undefined => kindOf(form).secretOf?.(form.config);

const secretChange = (before: string | undefined, after: string | undefined): string[] => {
  if (before === after) return [];
  if (before === undefined) return ["secret set"];
  return [after === undefined ? "secret removed" : "secret replaced"];
};

/** Where a channel sends to. */
export const destinationOf = (form: ChannelForm) => kindOf(form).destinationOf(form.config);

/** Whether two forms name different destinations. */
export const isOtherDestination = (before: ChannelForm, after: ChannelForm): boolean =>
  !isDeepStrictEqual(destinationOf(before), destinationOf(after));

/** The notices of a new channel, to the admins and to the other channels that want `scan_error`. */
export const noticesOfNew = (
  org: number,
  channel: Pick<Channel, "channel" | "id">,
  otherChannels: readonly Channel[],
  actor: Actor,
): Promise<Notices> =>
  announced(
    org,
    [`Alerts also go to ${describe(channel)}, which is new.`],
    listenersTo(actor, otherChannels),
    actor,
  );

/** The other channels that hear of a new channel, or of one that tells less. */
const listenersTo = ({ type }: Actor, otherChannels: readonly Channel[]): Channel[] =>
  otherChannels.filter(
    (channel) => wants(channel, "scan_error") && (type !== "api_key" || kindOf(channel).isForPeople),
  );

/** For the transaction of a change, and to send afterwards. */
type Notices = { writes: Write[]; send: () => Promise<void> };

const nameOf = ({ type, label }: Actor): string => (type === "api_key" ? `the API key "${label}"` : label);

/** Tells these channels in sentences, and with `byActor` the admins. No sentence says where a channel sends to. */
const announced = async (
  org: number,
  sentences: readonly string[],
  otherChannels: readonly Channel[],
  byActor?: Actor,
): Promise<Notices> => {
  const what = sentences.join(" ");
  const toOthers = problemOf(org, otherChannels, `${what} The activity log says who did it.`);
  const toAdmins = byActor && (await newNoticesToAdmins(org));
  return {
    writes: [
      ...toOthers,
      ...(toAdmins ? toAdmins.writes({ about: "channel", what, by: nameOf(byActor) }) : []),
    ],
    send: async () => {
      await Promise.all([toAdmins?.send(), toOthers.length > 0 && wake(org)]);
    },
  };
};

/**
 * The notices of a change. The other channels that want `scan_error` learn of another destination, of less that
 * the channel tells, and of its deletion. The admins learn of another destination, and that the last channel
 * with alerts of new breaches goes. If another channel has such alerts, the transaction is refused when that
 * channel has changed.
 */
export const noticesOf = async (
  org: number,
  { before, after, isMoved, quieted, otherChannels }: ChannelChange,
  actor: Actor,
  isFew: IsFew = async () => true,
): Promise<Notices> => {
  const isLeaving = wants(before, "breach") && (after === undefined || !wants(after, "breach"));
  const remaining = isLeaving ? otherChannels.find((channel) => wants(channel, "breach")) : undefined;
  const check = remaining === undefined ? [] : [stillGetsBreaches(org, remaining)];
  const isLast = isLeaving && remaining === undefined;
  const sentences = [
    ...(isMoved ? [`The destination of ${describe(before)} was changed.`] : []),
    ...(quieted.length > 0 ? [quietedSentence(before, quieted)] : []),
    ...(after === undefined ? [`Nothing goes to ${describe(before)} any more: it was deleted.`] : []),
    ...(isLast
      ? [`No channel gets alerts of new breaches any more: ${describe(before)} was the last one.`]
      : []),
  ];
  const listeners = isMoved || isLast ? otherChannels : listenersTo(actor, otherChannels);
  // `assertFew` (configure.ts) limits how many channels are added and moved, and so how many are deleted.
  const isTold =
    sentences.length > 0 &&
    (isMoved || isLast || listeners.length > 0) &&
    (isMoved || after === undefined || (await isFew(isLast ? "last" : "other")));
  if (!isTold) return { writes: check, send: async () => {} };
  const { writes, send } = await announced(org, sentences, listeners, isMoved || isLast ? actor : undefined);
  return { writes: [...check, ...writes], send };
};

/** The notices of options by which a channel tells less, or later, to the other channels. */
export const noticesOfOptions = async (
  org: number,
  channel: Channel,
  quieted: readonly string[],
  otherChannels: readonly Channel[],
  actor: Actor,
  isFew: IsFew,
): Promise<Notices> => {
  const listeners = listenersTo(actor, otherChannels);
  if (quieted.length === 0 || listeners.length === 0 || !(await isFew("other")))
    return { writes: [], send: async () => {} };
  return announced(org, [quietedSentence(channel, quieted)], listeners);
};

/** Whether so few such changes were made that this one is still told. `last`: of the last channel with new breaches. */
type IsFew = (which: "last" | "other") => Promise<boolean>;

/** Counts a change that makes a channel tell less. Tries of one change count once. */
export const quietCounter = (org: number): IsFew => {
  const counted: Partial<Record<"last" | "other", Promise<boolean>>> = {};
  return (which) => (counted[which] ??= countQuieted(org, which));
};

const quietedSentence = (channel: Channel, quieted: readonly string[]): string =>
  `The settings of ${describe(channel)} were changed: ${quieted.join(", ")}.`;

/**
 * A problem of a channel, and how its other channels are told as of now. Whoever changes one may change them
 * next.
 */
export const problemOf = (org: number, otherChannels: readonly Channel[], error: string): Write[] => {
  const to = otherChannels.filter((channel) => wants(channel, "scan_error")).map(({ id }) => id);
  return to.length === 0 ? [] : [problemOccurred(org, { error, to })];
};

const stillGetsBreaches = (org: number, { id }: Channel): Write => ({
  check: keys.channel(org, id),
  if: condition("#isEnabled = :yes AND #notifyOnNewBreach = :yes", { yes: true }),
});
