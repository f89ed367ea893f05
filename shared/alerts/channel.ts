import type * as z from "zod";
import * as activity from "../activity/activity.ts";
import { Refusal } from "../api/errors.ts";
import type { Actor } from "../organizations/actor.ts";
import { drawId } from "../table/blocks.ts";
import { absent, condition } from "../table/condition.ts";
import { type Key, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { parseDestination, resolveDestination } from "./destination.ts";
import { urlPreview } from "./envelope.ts";
import type { AlertConfig, channelConfig, EventType } from "./schema.ts";

const maximumChannels = 20;

/** At most this long for DNS when a channel is written. */
const resolveDeadlineMilliseconds = 5000;

type Flags = {
  isEnabled: boolean;
  notifyOnNewBreach: boolean;
  notifyOnScanComplete: boolean;
  notifyOnScanError: boolean;
};

/** An alert channel as it is stored, secrets included: never reply or log it. */
export type Channel = Flags & {
  id: number;
  createdAt: string;
  channel: "webhook";
  config: z.output<(typeof channelConfig)["webhook"]>;
};

/** Whether a channel wants events of a type now. */
export const wants = (channel: Channel, type: EventType): boolean =>
  channel.isEnabled &&
  {
    breach: channel.notifyOnNewBreach,
    scan_complete: channel.notifyOnScanComplete,
    scan_error: channel.notifyOnScanError,
  }[type];

export const get = (org: number, id: number): Promise<Channel | undefined> =>
  table.get(keys.channel(org, id));

/** All channels, newest first, secrets included. */
export const list = (org: number): Promise<(Channel & Key)[]> =>
  table.query<Channel & Key>({ pk: keys.channel(org, 0).pk, descending: true });

/** A channel as the interface shows it: urls and secrets are write-only. */
export const shown = (org: number, channel: Channel): AlertConfig => {
  const { id, channel: kind, isEnabled, config } = channel;
  const { notifyOnNewBreach, notifyOnScanComplete, notifyOnScanError } = channel;
  return {
    id,
    organizationId: org,
    channel: kind,
    isEnabled,
    config: { urlPreview: urlPreview(config.url), hasSecret: (config.secret ?? "") !== "" },
    notifyOnNewBreach,
    notifyOnScanComplete,
    notifyOnScanError,
  };
};

/**
 * Creates a channel and gives its id. `count` counts the write just before its hostname is resolved. Refuses
 * `invalidInput` for a destination that is not public HTTPS, `channelLimitReached` for the 21st.
 */
export const create = async (
  org: number,
  input: Omit<Channel, "id" | "createdAt">,
  actor: Actor,
  count: () => Promise<void>,
): Promise<number> => {
  await assertPublic("config.url", input.config.url, count);
  const [id, slot] = await Promise.all([drawId("CHANNEL"), activity.slot(org)]);
  try {
    await table.transact([
      {
        update: keys.channelCount(org),
        add: { channels: 1 },
        if: condition("attribute_not_exists(#channels) OR #channels < :maximum", {
          maximum: maximumChannels,
        }),
      },
      { put: { ...keys.channel(org, id), ...input, id, createdAt: slot.createdAt }, if: absent },
      ...activity.writes(org, slot, {
        action: "alert_config.created",
        summary: `Created a ${input.channel} alert channel`,
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

/** The SSRF guard at write time; `destination.ts` says the rules. It is applied again right before every send. */
const assertPublic = async (field: string, url: string, count: () => Promise<void>): Promise<void> => {
  const refuse = (reason: string) => new Refusal("invalidInput", { error: `${field}: ${reason}` });
  const destination = parseDestination(url);
  if (!destination.ok) throw refuse(destination.reason);
  if (destination.host.kind === "name") await count();
  const resolved = await resolveDestination(destination, {
    signal: AbortSignal.timeout(resolveDeadlineMilliseconds),
  });
  if (!resolved.ok) throw refuse(resolved.reason);
};
