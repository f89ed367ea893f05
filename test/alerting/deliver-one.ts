import {
  type DeliverSettings,
  deliver,
  readSubjects,
  type Subject,
} from "../../shared/alerting/attempts/deliver.ts";
import type { Message } from "../../shared/contract/messages.ts";
import { logger } from "../scanning/in-process-workers.ts";

/** Makes the attempt of one message, as the function does whose batch holds nothing else. */
export const deliverOne = async (
  message: Message<"deliveries">,
  settings: DeliverSettings,
): Promise<void> => {
  const [subject] = await readSubjects([message]);
  return deliver(message, subject as Subject, { logger }, settings);
};
