import type { Sender, TextOf } from "../kind.ts";
import type { EmailConfig } from "./email-schema.ts";
import { messageOf, send } from "./mail.ts";
import { planMail } from "./mail-plan.ts";

export const emailText: TextOf = ({ notice }) => {
  const { subject, text } = messageOf(notice());
  return `Subject: ${subject}\n\n${text}`;
};

export const emailSender: Sender<EmailConfig> = {
  plan: ({ recipients }, occasion) => planMail(recipients, occasion),
  send: (_, { notice }, { addressees, deliveryId, dashboardUrl }) =>
    send(addressees, deliveryId, notice(), dashboardUrl),
};
