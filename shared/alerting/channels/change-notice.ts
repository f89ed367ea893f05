/**
 * Reports changes of channels, so that nobody with a key or a session sends alerts elsewhere unseen. The
 * activity log says what changed, without values. When alerts reach other receivers, the admins get an
 * e-mail. Neither channels' flags nor the budget of e-mails stop it. The other channels that want notices get
 * one too.
 */
import { isDeepStrictEqual } from "node:util";
import type { Actor } from "../../access/activity/actor.ts";
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
  otherChannels: readonly Channel[];
};

/** What differs between the forms of a channel before and after a change, in the words of the activity log. */
export const formChanges = (before: ChannelForm, after: ChannelForm): string[] => [
  ...(before.channel === after.channel ? [] : ["kind changed"]),
  ...(isOtherDestination(before, after) ? ["destination changed"] : []),
  ...secretChange(secretOf(before), secretOf(after)),
];

/** What differs between the flags, in the same words. */
export const flagChanges = (before: Flags, after: Flags): string[] => [
  ...switched(before.notifyOnNewBreach, after.notifyOnNewBreach, "alerts of new breaches turned"),
  ...switched(before.notifyOnScanComplete, after.notifyOnScanComplete, "alerts of completed scans turned"),
  ...switched(before.notifyOnScanError, after.notifyOnScanError, "alerts of scan errors turned"),
  ...switched(before.isEnabled, after.isEnabled, "channel turned"),
];

const switched = (before: boolean, after: boolean, what: string): string[] =>
  before === after ? [] : [`${what} ${after ? "on" : "off"}`];

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

/** The notice to the admins of a new channel. */
export const noticeOfNew = async (
  org: number,
  channel: Pick<Channel, "channel" | "id">,
  actor: Actor,
): Promise<Notices> => {
  const { writes, send } = await newNoticesToAdmins(org);
  const what = `Alerts also go to ${describe(channel)}, which is new.`;
  return { writes: writes({ about: "channel", what, by: nameOf(actor) }), send };
};

/** For the transaction of a change, and to send afterwards. */
type Notices = { writes: Write[]; send: () => Promise<void> };

const nameOf = ({ type, label }: Actor): string => (type === "api_key" ? `the API key "${label}"` : label);

/**
 * The notices to the admins and to the other channels that want `scan_error`. They tell of a changed
 * destination, and that the last channel with alerts of new breaches goes. If another channel has such
 * alerts, the transaction is refused when that channel has changed.
 */
export const noticesOf = async (
  org: number,
  { before, after, isMoved, otherChannels }: ChannelChange,
  actor: Actor,
): Promise<Notices> => {
  const isLeaving = wants(before, "breach") && (after === undefined || !wants(after, "breach"));
  const remaining = isLeaving ? otherChannels.find((channel) => wants(channel, "breach")) : undefined;
  const sentences = [
    ...(isMoved ? [`The destination of ${describe(before)} was changed.`] : []),
    ...(isLeaving && remaining === undefined
      ? [`No channel gets alerts of new breaches any more: ${describe(before)} was the last one.`]
      : []),
  ];
  const check = remaining === undefined ? [] : [stillGetsBreaches(org, remaining)];
  if (sentences.length === 0) return { writes: check, send: async () => {} };
  const what = sentences.join(" ");
  const toOthers = problemOf(org, otherChannels, `${what} The activity log says who did it.`);
  const toAdmins = await newNoticesToAdmins(org);
  return {
    writes: [...check, ...toOthers, ...toAdmins.writes({ about: "channel", what, by: nameOf(actor) })],
    send: async () => {
      await Promise.all([toAdmins.send(), toOthers.length > 0 && wake(org)]);
    },
  };
};

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
