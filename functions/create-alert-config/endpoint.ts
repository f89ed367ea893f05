import * as z from "zod";
import { channelConfig, notificationFlags } from "../../shared/alerts/schema.ts";
import { defineEndpoint } from "../../shared/api/endpoint.ts";

const flags = {
  isEnabled: notificationFlags.isEnabled.default(true),
  notifyOnNewBreach: notificationFlags.notifyOnNewBreach.default(true),
  notifyOnScanComplete: notificationFlags.notifyOnScanComplete.default(false),
  notifyOnScanError: notificationFlags.notifyOnScanError.default(true),
};

export const createAlertConfig = defineEndpoint({
  summary: "Create an alert channel",
  body: z.object({ channel: z.literal("webhook"), config: channelConfig.webhook, ...flags }),
  status: 201,
  reply: z.object({ id: z.int() }),
  refusals: ["channelLimitReached"],
  limit: "alertConfigWrites",
  counted: "by handler",
  uses: ["table:read", "table:write"],
  timeoutSeconds: 15,
});
