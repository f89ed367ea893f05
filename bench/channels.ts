/** Organizations whose alerts are measured. */
import { administrator } from "../shared/access/activity/actor.ts";
import * as organizations from "../shared/access/organizations/organization.ts";
import * as configure from "../shared/alerting/channels/configure.ts";
import type { ChannelForm } from "../shared/alerting/kinds/kind.ts";
import { activeBilling } from "./seed/organization.ts";

/** Creates an organization that is scanned only when asked. */
export const createOrganization = (): Promise<{ id: number }> =>
  organizations.create({ name: "Measured", billing: activeBilling, scanEvery: "never" });

/** Creates channels that are told of new breaches and of failed scans. */
export const createChannels = async (org: number, forms: readonly ChannelForm[]): Promise<void> => {
  const flags = {
    isEnabled: true,
    notifyOnNewBreach: true,
    notifyOnScanComplete: false,
    notifyOnScanError: true,
  };
  for (const form of forms) await configure.create(org, { ...flags, ...form }, administrator, async () => {});
};

export const webhook = (url: string): ChannelForm => ({ channel: "webhook", config: { url } });
