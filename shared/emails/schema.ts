import * as z from "zod";
import { text } from "../api/text.ts";

/**
 * An e-mail address, trimmed and lower-cased (decisions.md "E-mail addresses"): at most 254 characters (RFC 5321
 * 4.5.3.1), in the form of the HTML standard.
 */
export const emailAddress = z
  .string()
  .trim()
  .max(254)
  .regex(z.regexes.html5Email, "must be an e-mail address")
  // After the form is checked: some letters beyond ASCII have a lower case within it, such as the Kelvin sign.
  .toLowerCase();

export const ownerName = text(200);

/** The part of a normalized address behind its last `@`. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1);

/** interface.md "Monitored email". */
export const monitoredEmail = z.object({
  id: z.int(),
  email: z.string(),
  ownerName: z.string().nullable(),
  isActive: z.boolean(),
  lastScannedAt: z.string().nullable(),
  createdAt: z.string(),
  domain: z.object({ id: z.int(), name: z.string() }),
  team: z.object({ id: z.int(), name: z.string() }).nullable(),
  breachCount: z.int(),
  unacknowledgedBreachCount: z.int(),
});
export type MonitoredEmail = z.infer<typeof monitoredEmail>;
