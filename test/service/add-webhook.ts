import { administrator } from "../../shared/access/activity/actor.ts";
import type { Flags } from "../../shared/alerting/channels/channel.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";

/**
 * Creates a webhook channel for all events, but for `flags`, and gives its id. It writes to the service that `admin` is
 * connected to, without the API, whose functions would take time to start. OUTBOUND_ALLOWED_ORIGINS must
 * allow the url.
 */
export const addWebhook = (org: number, url: string, flags: Partial<Flags> = {}): Promise<number> =>
  configure.create(
    org,
    {
      channel: "webhook",
      config: { url },
      isEnabled: true,
      notifyOnNewBreach: true,
      notifyOnScanComplete: true,
      notifyOnScanError: true,
      ...flags,
    },
    administrator,
    async () => undefined,
  );
