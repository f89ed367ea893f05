import { addresseesOf } from "../../shared/alerting/kinds/email/recipient.ts";

let addresses = 0;

/** A recipient of alerts that nobody else uses, and the token of its link. */
export const createRecipient = async (org: number): Promise<{ email: string; token: string }> => {
  const email = `Recipient-${org}-${++addresses}@other.example`;
  const [addressee] = await addresseesOf(org, [email]);
  if (addressee === undefined) throw new Error("A recipient was expected");
  return { email, token: addressee.token };
};
