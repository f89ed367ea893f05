import type { Logger } from "@aws-lambda-powertools/logger";
import * as organizations from "../../access/organizations/organization.ts";
import { askToConfirm, confirmsRecipients, unconfirmed } from "../kinds/email/confirmation.ts";
import { addresseesOf } from "../kinds/email/recipient.ts";
import * as channels from "./channel.ts";

/**
 * Asks those of a channel's recipients who must confirm and were not asked lately. Never throws, because the channel
 * is saved: the first alert asks whom this call has not asked.
 */
export const ask = async (org: number, channelId: number, logger: Logger): Promise<void> => {
  if (!confirmsRecipients()) return;
  try {
    const [owner, channel] = await Promise.all([organizations.get(org), channels.get(org, channelId)]);
    const recipients = channel === undefined ? [] : channels.recipientsOf(channel);
    if (owner === undefined || recipients.length === 0) return;
    const silent = await unconfirmed(org, await addresseesOf(org, recipients));
    await askToConfirm(owner, silent, process.env.DASHBOARD_URL ?? "");
  } catch (error) {
    logger.error("recipients could not be asked to confirm", { organizationId: org, error: error as Error });
  }
};
