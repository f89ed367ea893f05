import type { UpstreamFailureKind } from "../../hibp/hibp.ts";
import type { NoSearch } from "../../hibp/subscription-state.ts";

/**
 * A domain of an organization, with the watermark of its last check. The watermark says when all e-mails of
 * the domain were last checked. So a scan without new findings writes no e-mail's row.
 */
export type Domain = {
  id: number;
  name: string;
  verified: boolean;
  /**
   * Who says that it is verified: an operator, with the command line, or its DNS record. Absent while it
   * is not verified.
   */
  verifiedBy?: "operator" | "record";
  /** ISO 8601; null while it is not verified. */
  verifiedAt: string | null;
  createdAt: string;
  /** The random part of the DNS record that proves it (proof.ts). */
  proofToken: string;
  /** When the DNS record was last looked up, ISO 8601. */
  lookedUpAt?: string;
  /** When a look-up first missed the record that had been there before, ISO 8601. */
  missingSince?: string;
  /** Until then no e-mail can be added, because the domain may be removed; ISO 8601. */
  removing?: string;
  /** With `dueAt`: the entry in the due index. */
  dueShard?: string;
  /**
   * A day after this time (ISO 8601) the sweep looks the record up: when it last did; before the proof,
   * when anybody last did, or when the domain was added.
   */
  dueAt?: string;
  /**
   * Id of the latest scan that began to check this domain, 0 before the first. E-mails that are added or
   * enabled later are not part of that scan.
   */
  plannedByScan: number;
  /** When the scan `plannedByScan` claimed the domain, just before it asked upstream; ISO 8601. */
  planAt?: string;
  /** How far the scan `plannedByScan` is with this domain. */
  planState?: PlanState;
  /**
   * Why `planState` is "single" or "failed": what HIBP said, or that its answer is not believed
   * (scanning/compare-batch.ts).
   */
  planReason?: NoSearch | UpstreamFailureKind | "doubted";
  /**
   * The first scan whose answer was not believed, because it lacked too much of what was known. Removed
   * once an answer is believed.
   */
  doubtedByScan?: number;
  /** Why HIBP does not search the domain any more, though it did before; until it does again. */
  lostSearch?: NoSearch;
  /** The scan whose answer about unwatched addresses is still to be kept (unwatched/keep.ts). */
  unwatchedOfScan?: number;
  /** Hashes of the addresses that were erased, which unwatched/keep.ts leaves out of what it keeps. */
  erased?: Set<string>;
  /** Id of the batch of domains that the scan `plannedByScan` planned together. */
  planBatch?: number;
  /** Watermark: id of the latest scan that finished checking this domain; 0 before the first. */
  checkedByScan: number;
  /** Watermark: `planAt` of the scan `checkedByScan`; null before the first. */
  checkedAt: string | null;
};

/**
 * "fetching": claimed, upstream is being asked. "checked": upstream has answered for the whole domain.
 * "single": upstream does not cover the domain, each address is looked up. "failed": upstream has not
 * answered, or the domain is no longer verified.
 */
export type PlanState = "fetching" | "checked" | "single" | "failed";
