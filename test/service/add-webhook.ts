import { administrator } from "../../shared/access/activity/actor.ts";
import * as configure from "../../shared/alerting/channels/configure.ts";

/**
 * Creates a webhook channel for all events and gives its id. It writes to the service that `admin` is
 * connected to, without the API, whose functions would take time to start. OUTBOUND_ALLOWED_ORIGINS must
 * allow the url.
 */
export const addWebhook = (org: number, url: string): Promise<number> =>
  configure.create(
    org,
    {
      channel: "webhook",
      config: { url },
      isEnabled: true,
      notifyOnNewBreach: true,
      notifyOnScanComplete: true,
      notifyOnScanError: true,
    },
    administrator,
    async () => undefined,
  );
