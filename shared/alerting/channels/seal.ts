/**
 * Seals what of a channel's config is secret (urls and the webhook's secret) before it reaches the table.
 * What is sealed opens in the row of its organization, channel and kind alone.
 */
import { decrypt, encrypt } from "../../access/keys/encryption.ts";
import { asRead } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { urlPreview } from "../kinds/envelope.ts";
import type { Channel, ChannelForm, StoredForm } from "./channel.ts";
import * as channels from "./channel.ts";
import { keyWithId, sealingKey } from "./channel-key.ts";

/** What is sealed begins with the number of its format and the id of its key: `1.<key id>.<base64url>`. */
const format = "1";

type Place = { org: number; id: number; kind: ChannelForm["channel"] };

/** A channel's config is not what was sealed for it, or its key is gone. The message holds nothing of the config. */
export class ChannelNotOpened extends Error {
  constructor({ org, id }: Place, why: string) {
    super(`The config of alert channel ${id} of organization ${org} cannot be opened: ${why}`);
    this.name = "ChannelNotOpened";
  }
}

/** The form as the table holds it. Recipients of e-mails are no secrets and stay readable. */
export const seal = async (org: number, id: number, form: ChannelForm): Promise<StoredForm> => {
  if (form.channel === "email") return form;
  const key = await sealingKey();
  const bytes = encrypt(form.config, key.bytes, boundTo({ org, id, kind: form.channel }));
  const sealed = `${format}.${key.id}.${bytes.toString("base64url")}`;
  if (form.channel === "slack") return { channel: "slack", config: { hasWebhookUrl: true }, sealed };
  const { url, secret } = form.config;
  const config = { urlPreview: urlPreview(url), hasSecret: secret !== undefined };
  return { channel: "webhook", config, sealed };
};

/**
 * The form with its secrets. Throws `ChannelNotOpened` and `ChannelKeyUnavailable`.
 */
export const open = async (org: number, channel: Channel): Promise<ChannelForm> => {
  if (channel.channel === "email") return channel;
  const place: Place = { org, id: channel.id, kind: channel.channel };
  // A row that is not sealed was not written by this service.
  const [version, keyId = "", text = ""] = String(channel.sealed).split(".");
  if (version !== format) throw new ChannelNotOpened(place, "its format is unknown");
  const key = await keyWithId(keyId);
  if (key === undefined) throw new ChannelNotOpened(place, `the parameter does not hold its key ${keyId}`);
  const config = opened(Buffer.from(text, "base64url"), key.bytes, place);
  return { channel: place.kind, config } as ChannelForm;
};

const opened = (bytes: Buffer, key: Buffer, place: Place): unknown => {
  try {
    return decrypt(bytes, key, boundTo(place));
  } catch {
    // The error of JSON.parse would quote its input.
    throw new ChannelNotOpened(place, "it was changed, or sealed for another channel");
  }
};

const boundTo = ({ org, id, kind }: Place): string =>
  JSON.stringify(["alert channel", format, org, id, kind]);

export type Sealing = {
  /** Sealed by this call. */
  sealed: number;
  /** Sealed by the newest key already, or without secrets. */
  unchanged: number;
  /** Ids of channels whose config does not open. */
  notOpened: number[];
};

/**
 * Seals the channels of an organization anew that a replaced key has sealed. Safe to repeat, also
 * after it was interrupted. Throws `ChannelKeyUnavailable`.
 */
export const sealAll = async (org: number): Promise<Sealing> => {
  const sealing: Sealing = { sealed: 0, unchanged: 0, notOpened: [] };
  for (const { id } of await channels.list(org)) {
    try {
      if (await sealOne(org, id)) sealing.sealed++;
      else sealing.unchanged++;
    } catch (error) {
      if (!(error instanceof ChannelNotOpened)) throw error;
      sealing.notOpened.push(id);
    }
  }
  return sealing;
};

/** Whether it was sealed; false also for a channel that is gone, has no secret, or was sealed by the newest key. */
const sealOne = (org: number, id: number): Promise<boolean> =>
  withOptimisticRetry(async () => {
    const channel = await channels.get(org, id);
    if (channel === undefined || channel.channel === "email") return false;
    if (channel.sealed.startsWith(`${format}.${(await sealingKey()).id}.`)) return false;
    const stored = await seal(org, id, await open(org, channel));
    const update = keys.channel(org, id);
    await table.transact([{ update, set: stored, if: asRead({ sealed: channel.sealed }) }]);
    return true;
  });
