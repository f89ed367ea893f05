import * as z from "zod/mini";
import { count, idField } from "../contract/page.ts";
import { timestamp } from "../contract/text.ts";

export const scanType = z.enum(["manual", "scheduled", "catalog_triggered"]);
export const scanStatus = z
  .enum(["pending", "running", "completed", "failed"])
  .check(z.meta({ examples: ["completed"] }));
export type ScanType = z.infer<typeof scanType>;
export type ScanStatus = z.infer<typeof scanStatus>;

export const scan = z
  .object({
    id: idField,
    type: scanType,
    status: scanStatus,
    totalEmails: count.check(
      z.meta({ description: "E-mails to check; once completed, those checked or failed" }),
    ),
    scannedEmails: count.check(z.meta({ description: "E-mails checked so far" })),
    newBreachesFound: count.check(z.meta({ description: "Findings that this scan newly detected" })),
    findingsItemized: z.boolean().check(
      z.meta({
        description:
          "Whether GET /breaches?scanId=… lists them; recorded when the results were saved, and " +
          "not updated when an e-mail is removed with its findings",
      }),
    ),
    errorMessage: z
      .nullable(z.string())
      .check(z.meta({ description: "Why the scan failed, or which part of a completed one did" })),
    startedAt: z.nullable(timestamp),
    completedAt: z.nullable(timestamp),
    createdAt: timestamp,
  })
  .check(z.meta({ id: "Scan" }));
export type Scan = z.infer<typeof scan>;
