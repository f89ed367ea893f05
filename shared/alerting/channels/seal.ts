/**
 * Seals what of a channel's config is secret (urls and the webhook's secret) before it reaches the table.
 * What is sealed opens in the row of its organization, channel and kind alone.
 */
import { decrypt, encrypt } from "../../access/keys/encryption.ts";
import type { AnyForm, ChannelForm, StoredForm } from "../kinds/kind.ts";
import { kindOf } from "../kinds/kinds.ts";
import type { AnyChannel } from "./channel.ts";
import * as channels from "./channel.ts";
import { openingKey, sealingKey } from "./channel-key.ts";

/** What is sealed begins with the number of its format and the id of its key: `1.<key id>.<base64url>`. */
const format = "1";

type Place = { org: number; id: number; kind: AnyForm["channel"] };

/** A channel's config is not what was sealed for it, or its key is gone. The message holds nothing of the config. */
export class ChannelNotOpened extends Error {
  constructor({ org, id }: Place, why: string) {
    super(`The config of alert channel ${id} of organization ${org} cannot be opened: ${why}`);
    this.name = "ChannelNotOpened";
  }
}

/** The form as the table holds it. A kind that shows all of its config has no secrets. */
export const seal = async (org: number, id: number, form: ChannelForm): Promise<StoredForm> => {
  const { channel } = form;
  const shown = kindOf(form).shown?.(form.config);
  if (shown === undefined) return form as StoredForm;
  const key = await sealingKey();
  const bytes = encrypt(form.config, key.bytes, boundTo({ org, id, kind: channel }));
  const sealed = `${format}.${key.id}.${bytes.toString("base64url")}`;
  return { channel, config: shown, sealed } as StoredForm;
};

/**
 * The form with its secrets. Throws `ChannelNotOpened` and `ChannelKeyUnavailable`.
 */
export const open = async (org: number, channel: AnyChannel): Promise<AnyForm> => {
  if (kindOf(channel).shown === undefined) return channel as AnyForm;
  const place: Place = { org, id: channel.id, kind: channel.channel };
  // A row that is not sealed was not written by this service.
  const [version, keyId = "", text = ""] = String("sealed" in channel && channel.sealed).split(".");
  if (version !== format) throw new ChannelNotOpened(place, "its format is unknown");
  const key = await openingKey(keyId);
  if (key.id !== keyId) throw new ChannelNotOpened(place, `the parameter does not hold its key ${keyId}`);
  const config = opened(Buffer.from(text, "base64url"), key.bytes, place);
  return { channel: place.kind, config } as AnyForm;
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

/** Ids of the organization's channels whose config does not open. Throws `ChannelKeyUnavailable`. */
export const notOpened = async (org: number): Promise<number[]> => {
  const ids: number[] = [];
  for (const channel of await channels.list(org)) {
    await open(org, channel).catch((error: unknown) => {
      if (!(error instanceof ChannelNotOpened)) throw error;
      ids.push(channel.id);
    });
  }
  return ids;
};
