import * as z from "zod/mini";
import { publicUrl } from "../url-schema.ts";

export const slackConfig = z.object({ webhookUrl: publicUrl });
export type SlackConfig = z.output<typeof slackConfig>;

export const shownSlackConfig = z.object({ hasWebhookUrl: z.boolean() });
