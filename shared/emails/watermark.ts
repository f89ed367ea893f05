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
export const lastScannedAt = (
  email: Pick<Email, "id" | "facet" | "since" | "lastScannedAt">,
  domain: Domain,
): string | null => {
  if (!emails.facetOf(email).isActive) return email.lastScannedAt;
  const { checkedBy, checkedAt } = watermarkFor(email.id, domain);
  if (checkedBy <= email.since) return email.lastScannedAt;
  return later(email.lastScannedAt, checkedAt);
};

export type Watermark = Pick<Domain, "checkedBy" | "checkedAt">;

export const watermarkFor = (id: number, domain: Domain): Watermark => {
  for (const [range, watermark] of Object.entries(domain.stale ?? {})) {
    const { fromId, toId } = rangeOf(range);
    if (id >= fromId && id <= toId) return watermark;
  }
  return domain;
};

/** The watermarks that hold within a range now, by the ranges that they hold for: they stay when a scan does not reach it. */
export const watermarksWithin = (
  { fromId, toId }: { fromId: number; toId: number },
  domain: Domain,
): Record<string, Watermark> => {
  const within: Record<string, Watermark> = {};
  const { checkedBy, checkedAt } = domain;
  let next = fromId;
  const upTo = (last: number, watermark: Watermark): void => {
    if (last >= next) within[rangeName(next, last)] = watermark;
    next = Math.max(next, last + 1);
  };
  const stale = Object.entries(domain.stale ?? {})
    .map(([range, watermark]) => ({ ...rangeOf(range), watermark }))
    .filter((each) => each.fromId <= toId && each.toId >= fromId)
    .sort((a, b) => a.fromId - b.fromId);
  for (const { fromId: first, toId: last, watermark } of stale) {
    upTo(first - 1, { checkedBy, checkedAt });
    upTo(Math.min(last, toId), watermark);
  }
  upTo(toId, { checkedBy, checkedAt });
  return within;
};

/** The later of two times; null is earlier than any. */
export const later = <T extends string | null>(a: string | null, b: T): string | T =>
  a !== null && a > (b ?? "") ? a : b;
