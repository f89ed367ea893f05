/** Creating and changing alert channels: their configs are checked, and that they send to public places only. */
import { isDeepStrictEqual } from "node:util";
import type * as z from "zod/mini";
import * as activity from "../activity/activity.ts";
import { Refusal } from "../api/errors.ts";
import { valid } from "../api/valid.ts";
import type { Actor } from "../organizations/actor.ts";
import { retrying } from "../table/attempts.ts";
import { drawId } from "../table/blocks.ts";
import { absent, condition, exists } from "../table/condition.ts";
import { type Key, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { type Channel, type ChannelForm, describe, type Flags } from "./channel.ts";
import { parseDestination, resolveDestination } from "./destination.ts";
import { isUrlPreview, urlPreview } from "./envelope.ts";
import { type alertConfigPatch, channelConfig } from "./schema.ts";

const maximumChannels = 20;

/** At most this long for DNS when a channel is written. */
const resolveDeadlineMilliseconds = 5000;

/** Counts the write just before its hostname is resolved; refuses beyond the limit. */
type Count = () => Promise<void>;

/**
 * Creates a channel and gives its id. Refuses `invalidInput` for a destination that is not public HTTPS,
 * `channelLimitReached` for the 21st.
 */
export const create = async (
  org: number,
  input: Flags & ChannelForm,
  actor: Actor,
  count: Count,
): Promise<number> => {
  await assertPublic(input, count);
  const [id, slot] = await Promise.all([drawId("CHANNEL"), activity.slot(org)]);
  const form = normalized(input);
  try {
    await table.transact([
      {
        update: keys.channelCount(org),
        add: { channels: 1 },
        if: condition("attribute_not_exists(#channels) OR #channels < :maximum", {
          maximum: maximumChannels,
        }),
      },
      { put: { ...keys.channel(org, id), ...input, ...form, id, createdAt: slot.createdAt }, if: absent },
      ...activity.writes(org, slot, {
        action: "alert_config.created",
        summary: `Created ${describe(form.channel)}`,
        actor,
      }),
    ]);
  } catch (error) {
    if (error instanceof table.TransactionRefused && error.refused(0)) {
      throw new Refusal("channelLimitReached");
    }
    throw error;
  }
  return id;
};

export type ChannelPatch = z.output<typeof alertConfigPatch>;

/**
 * Changes a channel; `config` merges field by field, another kind needs its full config. What changes nothing succeeds and
 * is not logged. Refuses `channelNotFound` and `invalidInput`.
 */
export const change = (
  org: number,
  id: number,
  patch: ChannelPatch,
  actor: Actor,
  count: Count,
): Promise<void> =>
  retrying(async () => {
    const [row, slot] = await Promise.all([
      table.get<Channel & Key>(keys.channel(org, id)),
      activity.slot(org),
    ]);
    if (row === undefined) throw new Refusal("channelNotFound");
    const form = patchedForm(row, patch);
    if (namesDestination(row, patch)) await assertPublic(form, count);
    const { channel: _, config: __, ...flags } = patch;
    const read = { channel: row.channel, config: row.config };
    const isReconfigured = !isDeepStrictEqual(form, read);
    if (!isReconfigured && isDeepStrictEqual({ ...row, ...flags }, row)) return;
    await table.transact([
      {
        update: keys.channel(org, id),
        // Only what the patch names: two changes at once do not undo each other. A config is merged, so as it was read.
        set: { ...flags, ...(isReconfigured && form) },
        if: isReconfigured ? condition("#channel = :channel AND #config = :config", read) : exists,
      },
      ...activity.writes(org, slot, {
        action: "alert_config.updated",
        summary: `Changed ${describe(form.channel)}`,
        actor,
      }),
    ]);
  });

/** An empty secret means none. */
const normalized = (form: ChannelForm): ChannelForm => {
  if (form.channel !== "webhook") return { channel: form.channel, config: form.config } as ChannelForm;
  const { url, secret } = form.config;
  return { channel: "webhook", config: { url, ...(secret !== undefined && secret !== "" && { secret }) } };
};

/** The channel's kind and config with a patch applied. Refuses a config that is not of the kind. */
const patchedForm = (row: Channel, patch: ChannelPatch): ChannelForm => {
  const kind = patch.channel ?? row.channel;
  const given = { ...patch.config };
  // What a client was shown of the url, sent back, is not a new url.
  if (row.channel === "webhook" && kind === "webhook" && given.url === urlPreview(row.config.url))
    delete given.url;
  const config = kind === row.channel ? { ...row.config, ...given } : given;
  const { data, problem } = valid(channelConfig[kind], config);
  if (problem !== undefined) {
    throw new Refusal("invalidInput", {
      error: `${["config", ...problem.path].join(".")}: ${problem.message}`,
    });
  }
  return normalized({ channel: kind, config: data } as ChannelForm);
};

/** Whether a patch writes where the channel sends to. */
const namesDestination = (row: Channel, { channel = row.channel, config = {} }: ChannelPatch): boolean => {
  if (channel !== row.channel) return true;
  if (row.channel === "slack") return config.webhookUrl !== undefined;
  return row.channel === "webhook" && config.url !== undefined && config.url !== urlPreview(row.config.url);
};

/** The SSRF guard at write time; destination.ts says the rules. It is applied again right before every send. */
const assertPublic = async (form: ChannelForm, count: Count): Promise<void> => {
  if (form.channel === "email") return;
  const [field, url] =
    form.channel === "slack"
      ? ["config.webhookUrl", form.config.webhookUrl]
      : ["config.url", form.config.url];
  const refuse = (reason: string) => new Refusal("invalidInput", { error: `${field}: ${reason}` });
  if (isUrlPreview(url)) throw refuse("is only the preview of a url");
  const destination = parseDestination(url);
  if (!destination.ok) throw refuse(destination.reason);
  if (destination.host.kind === "name") await count();
  const resolved = await resolveDestination(destination, {
    signal: AbortSignal.timeout(resolveDeadlineMilliseconds),
  });
  if (!resolved.ok) throw refuse(resolved.reason);
};
