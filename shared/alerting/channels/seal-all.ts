import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import * as channels from "./channel.ts";
import { ChannelNotOpened, isSealed, open, seal } from "./seal.ts";

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

/** Whether it was sealed; false also for a channel that is gone. */
const sealOne = (org: number, id: number): Promise<boolean> =>
  withOptimisticRetry(async () => {
    const channel = await channels.get(org, id);
    if (channel === undefined || (await isSealed(channel))) return false;
    const stored = await seal(org, id, await open(org, channel));
    await table.transact([
      {
        update: keys.channel(org, id),
        ...channels.changeOf({}, stored),
        if: channels.hasFormOf(channel),
      },
    ]);
    return true;
  });
