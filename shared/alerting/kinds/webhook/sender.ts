/** Webhooks get events as signed JSON (docs/alerts.md). */
import type { Sender, TextOf } from "../kind.ts";
import { post } from "../outbound.ts";
import { envelope } from "./envelope.ts";
import { sign, signatureHeader, standardHeaders } from "./signature.ts";
import type { WebhookConfig } from "./webhook-schema.ts";

/** Throws a ZodError when the event does not match its schema (events.ts). */
export const webhookText: TextOf = ({ event }, { deliveryId: id, at }) => envelope({ ...event(), id, at });

export const webhookSender: Sender<WebhookConfig> = {
  /** The contract promises at most 30 posts, so that each attempt counts, throttled ones too. */
  send: ({ url, secret }, told, attempted) => {
    const body = webhookText(told, attempted);
    const { deliveryId: id, at } = attempted;
    const headers =
      secret === undefined
        ? {}
        : { [signatureHeader]: sign(body, secret), ...standardHeaders({ id, at, body }, secret) };
    return post({ url, headers, body });
  },
};
