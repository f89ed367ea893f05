import * as channels from "../../../shared/alerts/channel.ts";
import * as operator from "../../../shared/alerts/operator.ts";
import { billingRefusal } from "../../../shared/billing/billing.ts";
import type { Organization } from "../../../shared/organizations/organization.ts";
import type { Commands } from "../command.ts";
import { CommandError } from "../error.ts";
import { findOrganization, notFound, parseId } from "../flags.ts";

export const channelCommands: Commands = {
  "channel list": {
    about: "Lists the alert channels, newest first, without their secrets.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      return { channels: (await channels.list(org)).map((channel) => channels.shown(org, channel)) };
    },
  },
  "channel test": {
    about: "Sends a test alert to a channel, whatever it is notified of.",
    flags: { org: "required ID", channel: "required ID" },
    isAct: true,
    run: async (flags) => {
      const organization = await findOrganization(flags);
      const channel = await findReceivingChannel(organization, parseId("channel", flags));
      return { id: await operator.sendTest(organization.id, channel), channelId: channel.id };
    },
  },
};

/**
 * A channel to which alerts are sent now. Deliveries wait if it is disabled or its organization is not
 * served.
 */
export const findReceivingChannel = async (
  { id: org, billing }: Organization,
  id: number,
): Promise<channels.Channel> => {
  const channel = await channels.get(org, id);
  if (channel === undefined) throw notFound("channel", id);
  if (!channel.isEnabled) {
    throw new CommandError(
      `The channel ${id} is disabled: enable it with PATCH /alert-configs/${id} {"isEnabled": true}.`,
    );
  }
  if (billingRefusal(billing, new Date()) !== undefined) {
    throw new CommandError(
      `The organization's subscription has lapsed, so that it gets no alerts: once it is paid, say so with "org billing --org ${org} --status active".`,
    );
  }
  return channel;
};
