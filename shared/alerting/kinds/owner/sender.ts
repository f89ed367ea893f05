import { send } from "../email/mail.ts";
import { planMail } from "../email/mail-plan.ts";
import type { OwnersForm, Sender } from "../kind.ts";

export const ownerSender: Sender<OwnersForm["config"]> = {
  plan: async (_, occasion) => {
    const plan = await planMail(occasion.told.owner === undefined ? [] : [occasion.told.owner], occasion);
    return "isForNobody" in plan ? { over: "the owner has unsubscribed" } : plan;
  },
  send: (_, { notice }, { addressees, deliveryId, dashboardUrl }) =>
    send(addressees, deliveryId, notice(), dashboardUrl),
};
