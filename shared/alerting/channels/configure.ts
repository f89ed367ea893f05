/** Creates and changes alert channels, whose urls must be public HTTPS (destination.ts) and are sealed (seal.ts). */
import { isDeepStrictEqual } from "node:util";
import type { Logger } from "@aws-lambda-powertools/logger";
import type * as z from "zod/mini";
import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { countChannel } from "../../access/api/limits.ts";
import { absent, asRead, type Change, condition, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { valid } from "../../contract/valid.ts";
import { drawId } from "../../lists/blocks.ts";
import { channelConfig } from "../kinds/configs-schema.ts";
import { parseDestination, resolveDestination } from "../kinds/destination.ts";
import type { ChannelForm, StoredForm } from "../kinds/kind.ts";
import { kindOf } from "../kinds/kinds.ts";
import { isUrlPreview } from "../kinds/url-preview.ts";
import {
  destinationOf,
  flagChanges,
  formChanges,
  isOtherDestination,
  noticesOf,
  noticesOfNew,
  quietCounter,
  quietedBy,
} from "./change-notice.ts";
import type { Channel, Flags } from "./channel.ts";
import * as channels from "./channel.ts";
import type { alertConfigPatch } from "./channel-schema.ts";
import { ChannelNotOpened, open, seal } from "./seal.ts";

const maximumChannels = 20;

const resolveTimeoutSeconds = 5;

/** Counts the request against the hourly limit, right before a host name is resolved; refuses beyond it. */
type Count = () => Promise<void>;

/**
 * Creates a channel and returns its id. Refuses `invalidInput` for a destination that is not public HTTPS,
 * `channelsOfDay`, and `channelLimitReached` when the organization has 20 channels. `also`: further writes of
 * the transaction, which go first.
 */
export const create = async (
  org: number,
  input: Flags & ChannelForm,
  actor: Actor,
  count: Count,
  also: (id: number) => readonly Write[] = () => [],
): Promise<number> => {
  await assertPublic(input, count);
  const counted = await table.get<{ channels: number }>(keys.channelCount(org));
  if (counted !== undefined && counted.channels >= maximumChannels) throw new Refusal("channelLimitReached");
  await assertFew(org, actor);
  const [id, slot, otherChannels] = await Promise.all([
    drawId("CHANNEL"),
    activity.slot(org),
    channels.list(org),
  ]);
  const { channel: _, config: __, ...flags } = input;
  const [stored, notices] = await Promise.all([
    seal(org, id, kept(input)),
    noticesOfNew(org, { channel: input.channel, id }, otherChannels, actor),
  ]);
  await table.transact([
    ...also(id),
    {
      update: keys.channelCount(org),
      add: { channels: 1 },
      if: condition("attribute_not_exists(#channels) OR #channels < :maximum", { maximum: maximumChannels }),
      refusal: "channelLimitReached",
    },
    {
      put: {
        ...keys.channel(org, id),
        ...flags,
        ...stored,
        id,
        createdAt: slot.createdAt,
        lastChange: slot.id,
      },
      if: absent,
    },
    ...activity.writes(org, slot, {
      action: "alert_config.created",
      summary: `Created ${channels.describe({ ...stored, id })}`,
      actor,
    }),
    ...notices.writes,
  ]);
  await notices.send();
  return id;
};

export type ChannelPatch = z.output<typeof alertConfigPatch>;

/**
 * Changes a channel. `config` is merged field by field; a change of the kind needs the full config of the new
 * kind. A patch that changes nothing succeeds without an entry in the activity log. Refuses
 * `channelNotFound`, `invalidInput` and `channelsOfDay`.
 */
export const change = (
  org: number,
  id: number,
  patch: ChannelPatch,
  actor: Actor,
  count: Count,
): Promise<void> => {
  let isCounted = false;
  const isFew = quietCounter(org);
  return withOptimisticRetry(async () => {
    const all = await channels.list(org);
    const row = all.find((channel) => channel.id === id);
    if (row === undefined) throw new Refusal("channelNotFound");
    // A patch of flags needs no key, so that a channel whose config does not open can be disabled.
    const concernsForm = patch.channel !== undefined || patch.config !== undefined;
    const before = concernsForm ? await opened(org, row) : undefined;
    const { form: after, namesDestination } = before ? patchedForm(before, patch) : {};
    if (after && namesDestination) await assertPublic(after, count);
    const { channel: _, config: __, ...named } = patch;
    const flags = changedFlags(row, named);
    const isReconfigured = !isDeepStrictEqual(after, before);
    if (!isReconfigured && Object.keys(flags).length === 0) return;
    const slot = await activity.slot(org);
    const stored = after && isReconfigured ? await seal(org, id, after) : undefined;
    const changed = { ...row, ...flags, ...stored } as Channel;
    const otherChannels = all.filter((channel) => channel !== row);
    const hasMoved = before !== undefined && after !== undefined && isOtherDestination(before, after);
    if (hasMoved && !isCounted) await assertFew(org, actor);
    isCounted = hasMoved;
    const forms = before && after ? { before, after } : undefined;
    const quieted = quietedBy({ before: row, after: changed }, forms);
    const change = { before: row, after: changed, isMoved: hasMoved, quieted, otherChannels };
    const notices = await noticesOf(org, change, actor, isFew);
    const changes = [...(forms ? formChanges(forms.before, forms.after) : []), ...flagChanges(row, changed)];
    await table.transact([
      {
        update: keys.channel(org, id),
        ...changeOf(row, { ...flags, lastChange: slot.id }, stored, hasMoved),
        if: asRead({ lastChange: row.lastChange }),
      },
      ...activity.writes(org, slot, {
        action: "alert_config.updated",
        summary: `Changed ${channels.describe(changed)}: ${changes.join(", ")}`,
        actor,
      }),
      ...notices.writes,
    ]);
    await notices.send();
  });
};

/** A config that does not open is as if it were empty: a patch with all that the kind needs replaces it. */
const opened = async (org: number, row: Channel): Promise<ChannelForm> => {
  const form = await open(org, row).catch((error: unknown) => {
    if (!(error instanceof ChannelNotOpened)) throw error;
    return { channel: row.channel, config: {} };
  });
  return form as ChannelForm;
};

/** Refuses `channelsOfDay` to clients, so that the notices stay few. */
const assertFew = async (org: number, { type }: Actor): Promise<void> => {
  if (type !== "system") await countChannel(org);
};

/**
 * The change of a channel that sets these values, and the form if there is one. With another kind, options
 * whose defaults differ between kinds get the new defaults: a webhook's would name people in Slack. A channel
 * that is enabled, disabled, or gets another destination, no longer counts as failing.
 */
const changeOf = (
  before: Channel,
  values: Partial<Channel>,
  form: StoredForm | undefined,
  hasMoved: boolean,
): Change => ({
  set: { ...values, ...form },
  remove: [
    ...(hasMoved || values.isEnabled !== undefined ? ["failingSince", "failureReportedAt"] : []),
    ...(form !== undefined && form.sealed === undefined ? ["sealed"] : []),
    ...(form === undefined || form.channel === before.channel
      ? []
      : ["grouping", "sensitive", "tellOwners", "details"]),
  ],
});

const changedFlags = (row: Channel, patch: { [Flag in keyof Flags]?: boolean | undefined }): Partial<Flags> =>
  Object.fromEntries(
    Object.entries(patch).filter(
      ([flag, value]) => value !== undefined && value !== row[flag as keyof Flags],
    ),
  );

/** A form in the shape that is stored. */
const kept = ({ channel, config }: ChannelForm): ChannelForm =>
  ({ channel, config: kindOf({ channel }).kept?.(config) ?? config }) as ChannelForm;

/**
 * The channel's kind and config with the patch applied, and whether the patch names a destination. Refuses
 * `invalidInput` when kind and config do not fit.
 */
const patchedForm = (
  row: ChannelForm,
  { channel: kind = row.channel, config }: ChannelPatch,
): { form: ChannelForm; namesDestination: boolean } => {
  const isOtherKind = kind !== row.channel;
  const given = (!isOtherKind && kindOf(row).changeOf?.(row.config, { ...config })) || { ...config };
  const { data, problem } = valid(channelConfig[kind], isOtherKind ? given : { ...row.config, ...given });
  if (problem !== undefined) {
    throw new Refusal("invalidInput", {
      error: `${["config", ...problem.path].join(".")}: ${problem.message}`,
    });
  }
  const form = kept({ channel: kind, config: data } as ChannelForm);
  return { form, namesDestination: isOtherKind || destinationOf(row).field in given };
};

/**
 * Refuses `invalidInput` unless the destination is public HTTPS (destination.ts), which each send checks
 * again, and of this kind.
 */
const assertPublic = async (form: ChannelForm, count: Count): Promise<void> => {
  const { field, value: url } = destinationOf(form);
  if (typeof url !== "string") return;
  const refuse = (reason: string) => new Refusal("invalidInput", { error: `config.${field}: ${reason}` });
  if (isUrlPreview(url)) throw refuse("is only the preview of a url");
  const destination = parseDestination(url);
  if (!destination.ok) throw refuse(destination.reason);
  const against = kindOf(form).reasonAgainst?.(destination.url);
  if (against !== undefined) throw refuse(against);
  if (destination.host.kind === "name") await count();
  const resolved = await resolveDestination(destination, {
    signal: AbortSignal.timeout(resolveTimeoutSeconds * 1000),
  });
  if (!resolved.ok) throw refuse(resolved.reason);
};

/** Shorter secrets can be guessed from one signed delivery. The dashboard refuses them. */
const recommendedCharacters = 16;

/** Notes in the log that a client has set a short secret, which the API's contract allows. Never logs the secret. */
export const warnOfShortSecret = (
  logger: Logger,
  channel: { organizationId: number; channelId: number },
  secret: string | undefined,
): void => {
  if (secret === undefined || secret === "" || secret.length >= recommendedCharacters) return;
  logger.warn("short webhook secret", channel);
};
