import type { Domain } from "../domains/domain-row.ts";
import { type Email, emails } from "./record.ts";

/**
 * When an e-mail was last checked, on its own or with its domain (ISO 8601). The domain's watermark counts
 * only for active e-mails, and only if it is of a scan that included the e-mail.
 */
export const lastScannedAt = (
  email: Pick<Email, "group" | "afterScan" | "lastScannedAt">,
  { checkedByScan, checkedAt }: Domain,
): string | null =>
  !emails.groupOf(email).isActive || checkedByScan <= email.afterScan
    ? email.lastScannedAt
    : later(email.lastScannedAt, checkedAt);

/** The later of two ISO 8601 times; null is earlier than every time. */
export const later = <T extends string | null>(a: string | null, b: T): string | T =>
  a !== null && a > (b ?? "") ? a : b;
