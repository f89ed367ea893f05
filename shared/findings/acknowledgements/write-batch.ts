import { condition, exists, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { blockOf } from "../../lists/blocks.ts";
import * as counts from "../../lists/counts.ts";
import { emails } from "../../monitoring/emails/record.ts";
import { findings, followingAcknowledgment } from "../record.ts";
import type { Candidate } from "./candidates.ts";
import { type AcknowledgementRow, isAsRead, type LaneRow } from "./record.ts";

/**
 * As many of the first candidates as one transaction takes, with the lane, their e-mails, the counters of their blocks and what follows:
 * counts, and a note for each block.
 */
export const firstBatch = (candidates: readonly Candidate[], maximumWrites: number): Candidate[] => {
  const emailIds = new Set<number>();
  const blocks = new Set<number>();
  const laneWrites = 1;
  const batch: Candidate[] = [];
  for (const candidate of candidates) {
    emailIds.add(candidate.emailId);
    blocks.add(blockOf(candidate.id));
    const writesBesides = laneWrites + counts.countWrites + emailIds.size + 2 * blocks.size;
    if (writesBesides + batch.length + 1 > maximumWrites) break;
    batch.push(candidate);
  }
  return batch;
};

/** `removed`: e-mails that are not there any more. */
export type BatchResult =
  | { outcome: "written"; lane: LaneRow }
  | { outcome: "changed"; removed: number[] }
  | { outcome: "overtaken" };

/**
 * Acknowledges a batch in one transaction with the lane's cursor, so that it is done and counted once, however many workers try.
 * Each e-mail is written once for all of its findings. "changed": a finding or e-mail is not as it was read; "overtaken":
 * another worker has moved the lane.
 */
export const writeBatch = async (
  org: number,
  { id, slot, by, resolution, reason }: AcknowledgementRow,
  place: number,
  lane: LaneRow,
  batch: readonly Candidate[],
): Promise<BatchResult> => {
  const acknowledgment = { at: slot.createdAt, by, resolution, reason };
  const next: LaneRow = {
    ...lane,
    cursor: batch.at(-1)?.id ?? lane.cursor,
    acknowledged: lane.acknowledged + batch.length,
  };
  const byEmail = [...Map.groupBy(batch, ({ emailId }) => emailId)];
  const emailWrites = byEmail.map(([emailId, ofEmail]): Write => {
    const open = ofEmail.filter((each) => !findings.groupOf(each).acknowledged).length;
    const key = emails.key(org, emailId);
    // Without its e-mail a finding is about to be deleted by the removal of the e-mail.
    return open === 0
      ? { check: key, if: exists }
      : { update: key, add: { unacknowledged: -open }, if: exists };
  });
  const { cursor, acknowledged } = next;
  const result = await table.attempt(
    table.transact([
      { update: keys.acknowledgementLane(org, id, place), set: { cursor, acknowledged }, if: isAsRead(lane) },
      ...emailWrites,
      ...findings.writes(
        org,
        batch.map((each) => {
          const from = findings.groupOf(each);
          return findings.change(org, each.id, {
            from,
            to: { ...from, acknowledged: true },
            set: { acknowledgment },
            ...(from.acknowledged && {
              if: condition("#acknowledgment.#at = :at", { at: each.acknowledgedAt }),
            }),
          });
        }),
      ),
      ...followingAcknowledgment(org, batch),
    ]),
  );
  if (result.written) return { outcome: "written", lane: next };
  const failed = result.failed.map(({ index }) => index);
  if (failed.includes(0)) return { outcome: "overtaken" };
  const removed = byEmail.filter((_, index) => failed.includes(index + 1)).map(([emailId]) => emailId);
  return { outcome: "changed", removed };
};
