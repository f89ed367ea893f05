import { condition, type Write } from "../aws/table/condition.ts";
import * as table from "../aws/table/table.ts";
import { timeoutSeconds } from "../contract/scan-timing.ts";
import { type Email, emails } from "../monitoring/emails/record.ts";
import { type ChunkKey, expiryAfter, keyOf } from "./email-chunks.ts";
import { maximumScanMilliseconds } from "./lock.ts";
import { type Failures, failureCounts, scans } from "./record.ts";

/**
 * How far the look-ups of a chunk are: e-mails with ids up to `cursor` are done. One worker at a time has the
 * lease and looks up the next ones.
 */
type LookupRow = { cursor: number; leaseUntil?: string };

/** How far the clocks of two functions may be apart. */
const clockSkewSeconds = 10;

/** The lease outlasts the function that has it. */
const leaseMilliseconds = 1000 * (timeoutSeconds.lookUpEmails + clockSkewSeconds);

const isAt = (cursor: number) => condition("#cursor = :cursor", { cursor });

/** Writes the cursor of a chunk of look-ups before the scan's row names it. */
export const createCursor = (chunk: ChunkKey): Promise<void> =>
  // Deleted when the look-ups are done; the expiry is for scans that end before that.
  table.put({ ...keyOf(chunk), cursor: 0, ...expiryAfter(2 * maximumScanMilliseconds) });

/** The cursor of a chunk of look-ups; 0 when none of them is done or all are. */
export const cursorOf = async (chunk: ChunkKey): Promise<number> =>
  (await table.get<LookupRow>(keyOf(chunk)))?.cursor ?? 0;

/** Takes the lease of a chunk. False when the cursor is no longer here or another worker has the lease. */
export const acquireLease = async (chunk: ChunkKey, cursor: number): Promise<boolean> => {
  const now = Date.now();
  const lease = await table.attempt(
    table.update(keyOf(chunk), {
      set: { leaseUntil: new Date(now + leaseMilliseconds).toISOString() },
      if: condition("#cursor = :cursor AND (attribute_not_exists(#leaseUntil) OR #leaseUntil < :now)", {
        cursor,
        now: new Date(now).toISOString(),
      }),
    }),
  );
  return lease.written;
};

export const releaseLease = async (chunk: ChunkKey, cursor: number): Promise<void> => {
  await table.update(keyOf(chunk), { remove: ["leaseUntil"], if: isAt(cursor) });
};

/** One step of look-ups that was made. */
export type LookUpStep = {
  /** Where the step began, and where the next one begins. */
  cursor: number;
  next: number;
  /** How many addresses HIBP answered, did not answer, and how many of the chunk are left. */
  checked: number;
  failures: Failures;
  left: number;
  /** The e-mails to which the answers added nothing. */
  unchanged: readonly Email[];
  checkedAt: string;
};

/**
 * Saves a step in one transaction: the cursor, the scan's counts, and that the unchanged e-mails were
 * checked. False when the scan is over or another worker has saved this step.
 */
export const saveStep = async (key: ChunkKey, step: LookUpStep): Promise<boolean> => {
  const { org, scanId, batch, chunk } = key;
  const { cursor, next, checked, failures, left, checkedAt } = step;
  if (checked + failures.size === 0 && left > 0) return true;
  const scan = await scans.get(org, scanId);
  if (scan === undefined) return false;
  const path = `remaining.${batch}.${chunk}`;
  const counts: Write[] = [
    left === 0
      ? { delete: keyOf(key), if: isAt(cursor) }
      : { update: keyOf(key), set: { cursor: next }, if: isAt(cursor) },
    ...scans.writes(org, [
      scans.change(org, scanId, {
        from: { ...scans.groupOf(scan), status: "running" },
        add: { scannedEmails: checked, ...failureCounts(failures) },
        ...(left === 0 ? { remove: [path] } : { set: { [path]: left } }),
        if: condition(`attribute_exists(#remaining.#${batch}.#${chunk})`),
      }),
    ]),
  ];
  let unchanged = step.unchanged;
  for (;;) {
    const saving = await table.attempt(
      table.transact([...unchanged.map((row) => setChecked(org, row, checkedAt)), ...counts]),
    );
    if (saving.written) return true;
    if (saving.failed.some(({ index }) => index >= unchanged.length)) return false;
    // Only e-mails failed: they were removed, disabled or checked since they were read. The next try omits
    // them.
    unchanged = unchanged.filter((_, place) => !saving.failed.some(({ index }) => index === place));
  }
};

/** Records that an address was looked up. Fails if the e-mail was removed, disabled or checked later. */
const setChecked = (org: number, row: Email, checkedAt: string): Write => ({
  update: emails.key(org, row.id),
  set: { lastScannedAt: checkedAt },
  if: condition("#group = :group AND #afterScan = :afterScan AND NOT #lastScannedAt > :checkedAt", {
    group: row.group,
    afterScan: row.afterScan,
    checkedAt,
  }),
});
