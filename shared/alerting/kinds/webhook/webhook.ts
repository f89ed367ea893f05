import type { Kind } from "../kind.ts";
import { urlPreview } from "../url-preview.ts";
import type { WebhookConfig } from "./webhook-schema.ts";

export const webhook: Kind<WebhookConfig> = {
  label: "webhook",
  isForPeople: false,
  mayTellOwners: false,
  isSetUp: true,
  destinationOf: ({ url }) => ({ field: "url", value: url }),
  /** An empty secret means no secret. */
  kept: ({ url, secret }) => ({ url, ...(secret !== undefined && secret !== "" && { secret }) }),
  /** A client that sends back the preview of the url does not mean to change the url. */
  changeOf: ({ url }, change) => {
    // A config that does not open has none.
    if (url === undefined || change.url !== urlPreview(url)) return change;
    const { url: _, ...rest } = change;
    return rest as typeof change;
  },
  shown: ({ url, secret }) => ({ urlPreview: urlPreview(url), hasSecret: secret !== undefined }),
  secretOf: ({ secret }) => secret,
};
