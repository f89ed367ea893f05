import * as z from "zod";
import { count, idField } from "../api/page.ts";
import { text, timestamp } from "../api/text.ts";

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
  .toLowerCase()
  .meta({
    description: "Trimmed and lower-cased",
    examples: ["ada@demo.example"],
  });

export const ownerName = text(200);

/** The part of a normalized address behind its last `@`. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1);

/** interface.md "Monitored email". */
export const monitoredEmail = z
  .object({
    id: idField,
    email: z.string(),
    ownerName: z.string().nullable(),
    isActive: z.boolean().meta({ description: "Whether it is scanned and takes a seat" }),
    lastScannedAt: timestamp.nullable(),
    createdAt: timestamp,
    domain: z.object({ id: idField, name: z.string() }),
    team: z.object({ id: idField, name: z.string() }).nullable(),
    breachCount: count,
    unacknowledgedBreachCount: count,
  })
  .meta({ id: "MonitoredEmail" });
export type MonitoredEmail = z.infer<typeof monitoredEmail>;
