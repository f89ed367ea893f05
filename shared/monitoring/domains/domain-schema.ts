import * as z from "zod/mini";
import { asciiDomain } from "../../contract/domain-name.ts";
import { count, idField } from "../../contract/page.ts";
import { timestamp } from "../../contract/text.ts";

const form = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/i;

/** A domain name in lower case, with at least two labels; internationalized names are changed to their ASCII form. */
export const domainName = z.string().check(
  z.trim(),
  z.maxLength(253),
  z.overwrite(asciiDomain),
  z.maxLength(253),
  // No pattern, which the OpenAPI document would show: clients may write the name in any script.
  z.refine((name) => form.test(name), "must be a domain name, such as demo.example"),
  z.toLowerCase(),
  z.meta({
    description:
      "Trimmed and lower-cased; an internationalized name may be written in either form, and is kept in ASCII",
    examples: ["demo.example"],
  }),
);

export const domain = z
  .object({
    id: idField,
    name: z.string(),
    isVerified: z.boolean(),
    verifiedAt: z.nullable(timestamp),
    checkedAt: z.nullable(timestamp).check(z.meta({ description: "When the record was last looked up" })),
    record: z
      .object({ type: z.literal("TXT"), name: z.string(), value: z.string() })
      .check(z.meta({ description: "The DNS record that proves the domain" })),
    coverage: z.enum(["domain_search", "address_by_address"]).check(
      z.meta({
        description:
          "Whether Have I Been Pwned answers for the whole domain at once, as of the last scan or synchronization",
      }),
    ),
    emailCount: count,
  })
  .check(z.meta({ id: "Domain" }));
export type ListedDomain = z.infer<typeof domain>;
