import * as z from "zod/mini";
import { asciiAddress } from "../../contract/domain-name.ts";
import { count, idField } from "../../contract/page.ts";
import { text, timestamp } from "../../contract/text.ts";

/**
 * An e-mail address as it was written, trimmed and with its domain in ASCII: at most 254 characters (RFC 5321, 4.5.3.1), in
 * the form that the HTML standard allows.
 */
export const writtenAddress = z.string().check(
  z.trim(),
  z.maxLength(254),
  z.overwrite(asciiAddress),
  z.maxLength(254),
  // No pattern, which the OpenAPI document would show: clients may write the domain in any script.
  z.refine(
    (address) => z.regexes.html5Email.test(address),
    "must be an e-mail address, with ASCII letters before the @",
  ),
);

/** An e-mail address, trimmed and lower-cased, which is how addresses are unique. */
export const emailAddress = writtenAddress.check(
  // After the form is checked: some letters beyond ASCII, such as the Kelvin sign, have an ASCII lower case.
  z.toLowerCase(),
  z.meta({
    description:
      "Trimmed and lower-cased; an internationalized domain may be written in either form, and is kept in ASCII",
    examples: ["ada@demo.example"],
  }),
);

export const ownerName = text(200);

/** The domain of a normalized address: the part after the last `@`. */
export const domainOf = (address: string): string => address.slice(address.lastIndexOf("@") + 1);

export const monitoredEmail = z
  .object({
    id: idField,
    email: z.string(),
    ownerName: z.nullable(z.string()),
    isActive: z.boolean().check(z.meta({ description: "Whether it is scanned and takes a seat" })),
    lastScannedAt: z.nullable(timestamp),
    createdAt: timestamp,
    domain: z.object({ id: idField, name: z.string() }),
    team: z.nullable(z.object({ id: idField, name: z.string() })),
    breachCount: count,
    unacknowledgedBreachCount: count,
  })
  .check(z.meta({ id: "MonitoredEmail" }));
export type MonitoredEmail = z.infer<typeof monitoredEmail>;
