/**
 * Answers of domain searches that are not believed at once. When most of what was known of a domain is missing from an answer,
 * HIBP probably answered for less than the whole domain: people do not vanish from breaches.
 */
import type { Domain } from "../monitoring/domains/domain-row.ts";
import type { Email } from "../monitoring/emails/record.ts";
import type { EmailChange } from "./compare-email.ts";

/** Smaller answers are believed, because a single breach that HIBP withdraws can be most of what was known. */
const minimumKnown = 20;

/** An answer beside what was known. `known`: pairs of an e-mail and a breach before the answer; `lost`: those that it lacks. */
export type Tally = { emails: number; unchanged: number; known: number; lost: number };

export const addEmail = (
  tally: Tally = { emails: 0, unchanged: 0, known: 0, lost: 0 },
  { findings, gone }: Pick<Email, "findings" | "gone">,
  change: EmailChange | undefined,
): Tally => ({
  emails: tally.emails + 1,
  unchanged: tally.unchanged + (change === undefined ? 1 : 0),
  known: tally.known + Object.keys(findings).length - (gone?.size ?? 0),
  lost: tally.lost + (change?.gone.length ?? 0),
});

/** Whether the answer is not believed: it lacks more than half of what was known, and no scan before found the same. */
export const isDoubted = ({ known, lost }: Tally, { doubtedByScan }: Domain): boolean =>
  known >= minimumKnown && 2 * lost > known && doubtedByScan === undefined;
