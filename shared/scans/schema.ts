import * as z from "zod";

export const scanType = z.enum(["manual", "scheduled", "catalog_triggered"]);
export const scanStatus = z.enum(["pending", "running", "completed", "failed"]);
export type ScanType = z.infer<typeof scanType>;
export type ScanStatus = z.infer<typeof scanStatus>;

/** interface.md "Scan". */
export const scan = z.object({
  id: z.int(),
  type: scanType,
  status: scanStatus,
  totalEmails: z.int(),
  scannedEmails: z.int(),
  newBreachesFound: z.int(),
  findingsItemized: z.boolean(),
  errorMessage: z.string().nullable(),
  startedAt: z.string().nullable(),
  completedAt: z.string().nullable(),
  createdAt: z.string(),
});
export type Scan = z.infer<typeof scan>;
