import * as organizations from "../../../shared/access/organizations/organization.ts";
import * as byHand from "../../../shared/alerting/attempts/by-hand.ts";
import * as channels from "../../../shared/alerting/channels/channel.ts";
import { sealAll } from "../../../shared/alerting/channels/seal.ts";
import type { Commands } from "../command.ts";
import { findOrganization, findServed, parseId } from "../flags.ts";

type NotOpened = { organizationId: number; channelId: number };
type SealingOfAll = { organizations: number; sealed: number; unchanged: number; notOpened: NotOpened[] };

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
  "channel seal": {
    about: "Seals the urls and secrets of all channels with the newest key; exits 1 when one does not open.",
    flags: {},
    isAct: true,
    run: async () => {
      const total = { organizations: 0, sealed: 0, unchanged: 0, notOpened: [] as NotOpened[] };
      for (const { id: organizationId } of await organizations.list()) {
        const { sealed, unchanged, notOpened } = await sealAll(organizationId);
        total.organizations++;
        total.sealed += sealed;
        total.unchanged += unchanged;
        total.notOpened.push(...notOpened.map((channelId) => ({ organizationId, channelId })));
      }
      return total;
    },
    print: ({ organizations: count, sealed, unchanged, notOpened }: SealingOfAll) =>
      [
        `${count} organizations: ${sealed} channels sealed, ${unchanged} were sealed by it already or have no secrets.`,
        ...notOpened.map(
          ({ organizationId, channelId }) =>
            `Channel ${channelId} of organization ${organizationId} does not open: restore its key, or delete the channel.`,
        ),
        "",
      ].join("\n"),
    isWrong: ({ notOpened }: SealingOfAll) => notOpened.length > 0,
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
