import * as z from "zod/mini";
import { idField } from "../contract/page.ts";
import { timestamp } from "../contract/text.ts";
import { detailedFinding } from "../findings/finding-schema.ts";
import { scan } from "../scanning/scan-schema.ts";

/** An event that webhook channels were told, as clients see it. */
export const event = z
  .object({
    id: idField.check(z.meta({ description: "That of the webhook's envelope" })),
    type: z.enum(["breach", "scan_complete", "scan_error"]),
    createdAt: timestamp,
    findings: z
      .array(detailedFinding)
      .check(
        z.meta({ description: "As they are now, without those of removed e-mails; empty for other types" }),
      ),
    scan: z
      .nullable(scan)
      .check(z.meta({ description: "Null without a scan, and for a scan of more than 365 days ago" })),
  })
  .check(z.meta({ id: "Event" }));
export type EventInFull = z.infer<typeof event>;
