import * as z from "zod/mini";
import { writtenAddress } from "../../../monitoring/emails/email-schema.ts";

const publicForm = /^[^.@]+(?:\.[^.@]+)*@.+\.(?:[a-zA-Z]{2,}|xn--[a-zA-Z0-9-]+)$/;

/**
 * Stricter than an address to monitor: no domain without a dot, no stray dots in front of the `@`. SES
 * refuses a message for all recipients when it cannot parse the address of one. Kept as written, since some
 * servers tell upper from lower case in front of the `@`.
 */
const recipient = writtenAddress.check(
  z.refine((address) => publicForm.test(address), "must be an e-mail address of a public domain"),
  z.meta({
    description:
      "Trimmed, and shown as written, but for an internationalized domain, which is kept in " +
      "ASCII; compared without case",
    examples: ["Security@demo.example"],
  }),
);

export const emailConfig = z.object({
  recipients: z.array(recipient).check(z.minLength(1), z.maxLength(20)),
});
export type EmailConfig = z.output<typeof emailConfig>;

export const shownEmailConfig = z.object({ recipients: z.array(z.string()) });
