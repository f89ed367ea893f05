/**
 * The one rate limiter of this deployment: in any 60 seconds no more requests arrive at HIBP than the
 * subscription's `rpm`, from all functions together. One row counts the requests granted in each of the last
 * seconds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { absent, condition } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";

/** Up to `granted` requests may be sent until `validUntil`, or none for `waitSeconds` (at least 1). */
type Grant = { granted: number; validUntil: Date } | { granted: 0; waitSeconds: number };

/** A request must be sent within this time after it was granted, or it needs another grant. */
export const grantValiditySeconds = 5;

/** Assumed maximum difference between the clocks of two functions. */
const clockDifferenceSeconds = 2;
/** Assumed maximum difference between the times that two requests take to arrive at HIBP. */
const transitDifferenceSeconds = 3;

/**
 * How long a grant counts: two requests that arrive at HIBP within 60 seconds of each other were granted at
 * most this far apart.
 */
export const windowSeconds = 60 + grantValiditySeconds + clockDifferenceSeconds + transitDifferenceSeconds;

const maxTries = 40;

/** The limiter's row. `grants`: second (epoch) → requests granted in it. */
export type LimiterRow = {
  version: number;
  grants: Record<string, number>;
  /** Epoch milliseconds; 0 when the key was never paused. */
  pausedUntil: number;
};

/**
 * Grants up to `wanted` requests, fewer when the window has less room. `bulk` is for long series of look-ups:
 * they leave a tenth of the rate to single calls. So one organization's slow scan does not delay the planning
 * of other scans.
 */
export const reserve = async (
  wanted: number,
  rpm: number,
  { bulk = false, now = Date.now }: { bulk?: boolean; now?: () => number } = {},
): Promise<Grant> => {
  let row = await table.get<LimiterRow>(keys.limiter());
  for (let attempt = 1; attempt <= maxTries; attempt++) {
    const { grant, next } = take(row, wanted, bulk ? rpm - reservedForCalls(rpm) : rpm, now());
    if (next === undefined) return grant;
    const isAsRead = row === undefined ? absent : condition("#version = :version", { version: row.version });
    const put = await table.attempt(table.put({ ...keys.limiter(), ...next }, isAsRead));
    if (put.written) return grant;
    // A failed condition means that another request was granted, or the key paused, since the row was read.
    row = put.failed[0]?.item as LimiterRow | undefined;
    await sleep(Math.random() * Math.min(200, 5 * 2 ** attempt));
  }
  return { granted: 0, waitSeconds: 1 };
};

/** How many seconds a look-up would have to wait now; 0 if it would not. Reserves nothing. */
export const lookUpWait = async (rpm: number): Promise<number> => {
  const row = await table.get<LimiterRow>(keys.limiter());
  const { grant } = take(row, 1, rpm - reservedForCalls(rpm), Date.now());
  return "waitSeconds" in grant ? grant.waitSeconds : 0;
};

/** Pauses all grants for this long. Never shortens a longer pause. */
export const pause = async (seconds: number): Promise<void> => {
  const pausedUntil = Date.now() + (seconds + clockDifferenceSeconds) * 1_000;
  const extended = table.update(keys.limiter(), {
    set: { pausedUntil },
    setOnce: { grants: {} },
    add: { version: 1 },
    if: condition("attribute_not_exists(#pausedUntil) OR #pausedUntil < :pausedUntil", { pausedUntil }),
  });
  // A failed condition means that the pause already lasts longer.
  await table.attempt(extended);
};

/** What to grant, from the row and the time in epoch milliseconds. `next` is the row to write, if any. */
export const take = (
  row: LimiterRow | undefined,
  wanted: number,
  limit: number,
  now: number,
): { grant: Grant; next?: LimiterRow } => {
  if (wanted < 1) throw new Error(`Cannot grant ${wanted} requests: ask for at least one`);
  const pausedUntil = row?.pausedUntil ?? 0;
  const live = Object.entries(row?.grants ?? {})
    .map(([second, count]) => ({ endsAt: (Number(second) + 1 + windowSeconds) * 1_000, second, count }))
    .filter(({ endsAt }) => endsAt > now)
    .sort((a, b) => a.endsAt - b.endsAt);
  const used = live.reduce((sum, { count }) => sum + count, 0);
  const granted = Math.min(wanted, limit - used);
  if (pausedUntil > now || granted < 1) {
    const freeAt = granted < 1 ? roomAt(live, used, limit) : now;
    const waitSeconds = Math.max(1, Math.ceil((Math.max(freeAt, pausedUntil) - now) / 1_000));
    return { grant: { granted: 0, waitSeconds } };
  }
  const second = String(Math.floor(now / 1_000));
  const grants = Object.fromEntries(live.map((each) => [each.second, each.count]));
  grants[second] = (grants[second] ?? 0) + granted;
  return {
    grant: { granted, validUntil: new Date(now + grantValiditySeconds * 1_000) },
    next: { version: (row?.version ?? 0) + 1, grants, pausedUntil },
  };
};

/**
 * When one more request fits, in epoch milliseconds: as soon as enough of the oldest grants no longer count.
 */
const roomAt = (live: { endsAt: number; count: number }[], used: number, limit: number): number => {
  let left = used;
  for (const { endsAt, count } of live) {
    left -= count;
    if (left < limit) return endsAt;
  }
  throw new Error(`A limit of ${limit} requests a minute lets nothing through`);
};

/** The requests a minute that bulk look-ups leave to single calls: a tenth, at least one, but never all. */
const reservedForCalls = (rpm: number): number => Math.min(Math.ceil(rpm / 10), rpm - 1);
