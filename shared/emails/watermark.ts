import type { Domain } from "../organizations/domain.ts";
import { type Email, emails } from "./record.ts";

/** A range of e-mail ids inside one block, "first_last": what a scan's work is cut into. */
export const rangeName = (fromId: number, toId: number): string => `${fromId}_${toId}`;

export const rangeOf = (name: string): { fromId: number; toId: number } => {
  const [fromId = 0, toId = 0] = name.split("_").map(Number);
  return { fromId, toId };
};

/**
 * When an e-mail was last checked: by itself, or with its domain. The domain's watermark counts only while the e-mail is
 * active (disabling freezes the value), only of a scan that began after the e-mail was there, and not in chunks that the
 * scan did not reach.
 */
export const lastScannedAt = (email: Email, domain: Domain): string | null => {
  if (!emails.facetOf(email).isActive) return email.lastScannedAt;
  const { checkedBy, checkedAt } = watermarkFor(email.id, domain);
  if (checkedBy <= email.since) return email.lastScannedAt;
  return later(email.lastScannedAt, checkedAt);
};

export const watermarkFor = (id: number, domain: Domain): Pick<Domain, "checkedBy" | "checkedAt"> => {
  for (const [range, watermark] of Object.entries(domain.stale ?? {})) {
    const { fromId, toId } = rangeOf(range);
    if (id >= fromId && id <= toId) return watermark;
  }
  return domain;
};

/** The later of two times; null is earlier than any. */
export const later = <T extends string | null>(a: string | null, b: T): string | T =>
  a !== null && a > (b ?? "") ? a : b;
