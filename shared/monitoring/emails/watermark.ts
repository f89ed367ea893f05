import type { Domain } from "../domains/domain-row.ts";
import { type Email, emails } from "./record.ts";

/**
 * The name of a range of e-mail ids within one block, "first_last". A scan's chunks of work are such ranges.
 */
export const rangeName = (fromId: number, toId: number): string => `${fromId}_${toId}`;

export const rangeOf = (name: string): { fromId: number; toId: number } => {
  const [fromId = 0, toId = 0] = name.split("_").map(Number);
  return { fromId, toId };
};

/**
 * When an e-mail was last checked, on its own or with its domain (ISO 8601). The domain's watermark counts
 * only for active e-mails, and only if it is of a scan that included the e-mail and reached its chunk.
 */
export const lastScannedAt = (
  email: Pick<Email, "id" | "group" | "afterScan" | "lastScannedAt">,
  domain: Domain,
): string | null => {
  if (!emails.groupOf(email).isActive) return email.lastScannedAt;
  const { checkedByScan, checkedAt } = watermarkFor(email.id, domain);
  if (checkedByScan <= email.afterScan) return email.lastScannedAt;
  return later(email.lastScannedAt, checkedAt);
};

/** `checkedByScan` is the id of the scan that made the check, 0 before the first; `checkedAt` is ISO 8601. */
export type Watermark = Pick<Domain, "checkedByScan" | "checkedAt">;

/**
 * The watermark that holds for an e-mail id: of the stale range that contains the id, otherwise the domain's.
 */
export const watermarkFor = (id: number, domain: Domain): Watermark => {
  for (const [range, watermark] of Object.entries(domain.stale ?? {})) {
    const { fromId, toId } = rangeOf(range);
    if (id >= fromId && id <= toId) return watermark;
  }
  return domain;
};

/**
 * The watermarks that hold within a range, by the subranges they hold for. A scan that does not reach the
 * range keeps them as the domain's `stale` entries.
 */
export const watermarksWithin = (
  { fromId, toId }: { fromId: number; toId: number },
  domain: Domain,
): Record<string, Watermark> => {
  const within: Record<string, Watermark> = {};
  const { checkedByScan, checkedAt } = domain;
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
    upTo(first - 1, { checkedByScan, checkedAt });
    upTo(Math.min(last, toId), watermark);
  }
  upTo(toId, { checkedByScan, checkedAt });
  return within;
};

/** The later of two ISO 8601 times; null is earlier than every time. */
export const later = <T extends string | null>(a: string | null, b: T): string | T =>
  a !== null && a > (b ?? "") ? a : b;
