import * as configure from "../../shared/alerts/configure.ts";
import { administrator } from "../../shared/organizations/actor.ts";

/**
 * Makes a webhook channel that wants everything, on the service that `admin` was used on; its id. Without the API:
 * a test that is not about it need not start its functions. OUTBOUND_ALLOWED_ORIGINS must allow the url.
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
