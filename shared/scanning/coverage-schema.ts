import * as z from "zod/mini";
import { count, idField } from "../contract/page.ts";
import { textSuchAs, timestamp } from "../contract/text.ts";

const reasons = z.array(
  z.object({
    reason: z
      .string()
      .check(z.meta({ description: "A phrase for people", examples: ["Have I Been Pwned did not answer"] })),
    count,
  }),
);

/** What a scan checked and what not. Its numbers are of e-mails. */
export const scanCoverage = z
  .object({
    checked: count,
    failed: reasons.check(z.meta({ description: "Asked about in vain; the most frequent reason first" })),
    skipped: reasons.check(z.meta({ description: "No scan asks about these" })),
    stale: z
      .object({
        count,
        oldest: z.nullable(timestamp).check(
          z.meta({
            description: "The earliest of their last checks; null if none of them was checked before",
          }),
        ),
      })
      .check(
        z.meta({
          description: "Not reached when the scan ended, so that they keep an earlier result; 0 until then",
        }),
      ),
    domains: z
      .array(
        z.object({
          id: idField,
          name: textSuchAs("demo.example"),
          method: z.enum(["domain_search", "address_by_address"]),
          reason: z.nullable(z.string()).check(
            z.meta({
              description: "Why the domain was not searched whole; null if it was",
              examples: ["not verified at HIBP"],
            }),
          ),
        }),
      )
      .check(
        z.meta({ description: "The verified domains as the scan found them, less those removed since" }),
      ),
  })
  .check(z.meta({ id: "ScanCoverage" }));
export type ScanCoverage = z.infer<typeof scanCoverage>;
