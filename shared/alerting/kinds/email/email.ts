import type { Kind } from "../kind.ts";
import type { EmailConfig } from "./email-schema.ts";

/** Recipients are no secrets. */
export const email: Kind<EmailConfig> = {
  label: "e-mail",
  isForPeople: true,
  mayTellOwners: true,
  isSetUp: true,
  destinationOf: ({ recipients }) => ({ field: "recipients", value: recipients }),
  recipientsOf: ({ recipients }) => recipients,
};
