import * as organizations from "../../../shared/access/organizations/organization.ts";
import * as byHand from "../../../shared/alerting/attempts/by-hand.ts";
import * as channels from "../../../shared/alerting/channels/channel.ts";
import { notOpened } from "../../../shared/alerting/channels/seal.ts";
import type { Commands } from "../command.ts";
import { findOrganization, findServed, parseId } from "../flags.ts";

type NotOpened = { organizationId: number; channelId: number };
type Opening = { organizations: number; notOpened: NotOpened[] };

export const channelCommands: Commands = {
  "channel list": {
    about: "Lists the alert channels, newest first, without their secrets, and since when one fails.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      return {
        channels: (await channels.list(org)).map((channel) => ({
          ...channels.shown(org, channel),
          failingSince: channel.failingSince ?? null,
        })),
      };
    },
  },
  "channel check": {
    about:
      "Names the channels of all organizations whose url and secret do not open; exits 1 when there is one.",
    flags: {},
    run: async (): Promise<Opening> => {
      const all = await organizations.list();
      const unopened: NotOpened[] = [];
      for (const { id: organizationId } of all) {
        const ids = await notOpened(organizationId);
        unopened.push(...ids.map((channelId) => ({ organizationId, channelId })));
      }
      return { organizations: all.length, notOpened: unopened };
    },
    print: ({ organizations: count, notOpened: unopened }: Opening) =>
      [
        `${count} organizations: the urls and secrets of ${unopened.length} channels do not open.`,
        ...unopened.map(
          ({ organizationId, channelId }) =>
            `Channel ${channelId} of organization ${organizationId} does not open: restore its ` +
            "key, or enter its url and secret again.",
        ),
        "",
      ].join("\n"),
    isWrong: ({ notOpened: unopened }: Opening) => unopened.length > 0,
  },
  "channel test": {
    about: "Sends a test alert to a channel, whatever it is notified of.",
    flags: { org: "required ID", channel: "required ID" },
    isAct: true,
    run: async (flags) => {
      const { id: org } = await findServed(flags);
      const channelId = parseId("channel", flags);
      return { id: await byHand.test(org, channelId), channelId };
    },
  },
};
