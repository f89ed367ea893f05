/**
 * The one limiter of this deployment: never more requests than the subscription's `rpm` in any 60 seconds as the
 * upstream sees them, whoever sends them. One row holds how many were granted in each second of the last minute.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { condition } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";

/** `granted` requests may be sent until `validUntil`; or none before `waitSeconds` (at least 1) have passed. */
export type Grant = { granted: number; validUntil: Date } | { granted: 0; waitSeconds: number };

/** A request that was granted must be on its way within this time, or it needs another grant. */
export const grantValiditySeconds = 5;

/**
 * How long a grant counts. Two requests that arrive within 60 seconds of each other were granted at most this far
 * apart: each is sent up to 5 s after its grant, two clocks differ by up to 2 s, and one travels up to 3 s longer.
 */
export const windowSeconds = 60 + grantValiditySeconds + 2 + 3;

const maxTries = 40;

/** The limiter's row. `grants`: second (epoch) → requests granted in it. */
export type LimiterRow = {
  version: number;
  grants: Record<string, number>;
  /** Epoch milliseconds; 0 when never paused. */
  pausedUntil: number;
};

/**
 * Takes up to `wanted` requests (fewer when the window has less room). `bulk` is for long series of look-ups: they
 * leave a tenth of the rate to single calls, so that one organization's slow scan does not hold up everyone's plans.
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
    try {
      await table.put(
        { ...keys.limiter(), ...next },
        row === undefined
          ? condition("attribute_not_exists(#pk)")
          : condition("#version = :version", { version: row.version }),
      );
      return grant;
    } catch (error) {
      if (!(error instanceof table.ConditionFailed)) throw error;
      row = error.item as LimiterRow | undefined;
      await sleep(Math.random() * Math.min(200, 5 * 2 ** attempt));
    }
  }
  return { granted: 0, waitSeconds: 1 };
};

/** The whole key rests for so long, for every worker. Never shortens a longer pause. */
export const pause = async (seconds: number): Promise<void> => {
  // Two seconds more, because another worker's clock may be ahead of this one's.
  const pausedUntil = Date.now() + (seconds + 2) * 1_000;
  try {
    await table.update(keys.limiter(), {
      set: { pausedUntil },
      setOnce: { grants: {} },
      add: { version: 1 },
      if: condition("attribute_not_exists(#pausedUntil) OR #pausedUntil < :pausedUntil", { pausedUntil }),
    });
  } catch (error) {
    if (!(error instanceof table.ConditionFailed)) throw error;
  }
};

/** The decision, as a function of the row and the time; `next` is the row to write, when anything is granted. */
export const take = (
  row: LimiterRow | undefined,
  wanted: number,
  limit: number,
  now: number,
): { grant: Grant; next?: LimiterRow } => {
  if (wanted < 1) throw new Error(`A grant for ${wanted} requests`);
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

/** When enough old grants (oldest first) will have left for one more to fit. */
const roomAt = (live: { endsAt: number; count: number }[], used: number, limit: number): number => {
  let left = used;
  for (const { endsAt, count } of live) {
    left -= count;
    if (left < limit) return endsAt;
  }
  throw new Error(`A limit of ${limit} requests a minute lets nothing through`);
};

/** A tenth, at least one, but not the only one. */
const reservedForCalls = (rpm: number): number => Math.min(Math.ceil(rpm / 10), rpm - 1);
