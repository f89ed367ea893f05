import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import * as table from "../../shared/aws/table/table.ts";
import * as limiter from "../../shared/hibp/limiter.ts";
import { useEngine } from "../aws/table/engine.ts";

useEngine();
beforeEach(() => table.remove(keys.limiter()));

/** The largest number of arrivals (sorted, in milliseconds) within any 60 seconds. */
const busiestMinute = (arrivals: readonly number[]): number => {
  let from = 0;
  let most = 0;
  arrivals.forEach((arrival, index) => {
    while ((arrivals[from] as number) <= arrival - 60_000) from++;
    most = Math.max(most, index - from + 1);
  });
  return most;
};

/** Pseudo-random numbers from 0 to 1 that depend on the seed alone. */
const randomNumbers = (seed: number) => {
  let state = seed >>> 0;
  return (): number => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
};

type World = {
  seed: number;
  rpm: number;
  workers: number;
  wanted: number;
  slowness: number;
  minutes: number;
};

/**
 * Simulates workers that share the limiter's row in virtual time. Each has a clock that is off by up to a
 * second. Reading the row and writing it takes up to `slowness` × 2 s. It sends requests as long as its grant
 * is valid. A request travels for up to `slowness` × 3 s. Returns when requests arrived at HIBP, sorted, in
 * milliseconds.
 */
const simulate = ({ seed, rpm, workers, wanted, slowness, minutes }: World): number[] => {
  const random = randomNumbers(seed);
  /** A number from 0 to 1, mostly one of the two ends, where the worst cases are. */
  const extreme = (): number => {
    const pick = random();
    return pick < 0.45 ? 0 : pick < 0.9 ? 1 : random();
  };
  const start = 1_800_000_000_000 + Math.floor(random() * 60_000);
  const end = start + minutes * 60_000;
  const arrivals: number[] = [];
  let row: limiter.LimiterRow | undefined;
  const events: { at: number; run: (at: number) => void }[] = [];
  const schedule = (at: number, run: (at: number) => void): void => void events.push({ at, run });

  for (let worker = 0; worker < workers; worker++) {
    const clockError = (extreme() * 2 - 1) * 1_000;
    const turn = (at: number): void => {
      const seen = row;
      const now = at + clockError;
      const { grant, next } = limiter.take(seen, wanted, rpm, now);
      if ("waitSeconds" in grant) {
        schedule(at + grant.waitSeconds * 1_000 + random() * 500, turn);
        return;
      }
      const writtenAt = at + 5 + extreme() * slowness * 2_000;
      schedule(writtenAt, () => {
        if (row?.version !== seen?.version) {
          schedule(writtenAt + random() * 100, turn);
          return;
        }
        row = next;
        const sendUntil = grant.validUntil.getTime() - clockError;
        for (let sent = 0; sent < grant.granted; sent++) {
          const sendAt = writtenAt + extreme() * (sendUntil - writtenAt);
          arrivals.push(sendAt + extreme() * slowness * 3_000);
        }
        schedule(writtenAt + random() * slowness * 5_000, turn);
      });
    };
    schedule(start + random() * 1_000, turn);
  }
  for (;;) {
    let first = 0;
    for (let index = 1; index < events.length; index++) {
      if ((events[index]?.at ?? 0) < (events[first]?.at ?? 0)) first = index;
    }
    const [event] = events.splice(first, 1);
    if (event === undefined || event.at > end) break;
    event.run(event.at);
  }
  return arrivals.sort((a, b) => a - b);
};

const worlds = fc
  .record({
    seed: fc.integer({ min: 0 }),
    rpm: fc.constantFrom(1, 1, 2, 10, 50, 1_000),
    workers: fc.integer({ min: 1, max: 12 }),
    wanted: fc.constantFrom(1, 7, 25, 5_000),
    slowness: fc.constantFrom(0.2, 1, 1),
  })
  // Where few requests are granted a minute, the worst cases meet rarely.
  .map((world) => ({ ...world, minutes: world.rpm <= 10 ? 60 : 3 }));

describe("the decision", () => {
  test("lets at most rpm requests through in any 60 seconds, on any clocks", () => {
    fc.assert(
      fc.property(worlds, (world) => {
        expect(busiestMinute(simulate(world))).toBeLessThanOrEqual(world.rpm);
      }),
      { numRuns: 200 },
    );
  });

  test.each([10, 50, 1_000])("grants at least three quarters of %i requests a minute on demand", (rpm) => {
    for (const seed of [1, 2, 3]) {
      const minutes = 30;
      const arrivals = simulate({ seed, rpm, workers: 6, wanted: 25, slowness: 0.2, minutes });
      expect(arrivals.length).toBeGreaterThanOrEqual(rpm * minutes * 0.75);
    }
  });

  test("makes nobody wait longer than needed", () => {
    const now = 1_800_000_000_500;
    const first = limiter.take(undefined, 10, 10, now);
    expect(first.grant).toMatchObject({ granted: 10 });
    const second = limiter.take(first.next, 10, 10, now + 20_000);
    expect(second).toEqual({ grant: { granted: 0, waitSeconds: limiter.windowSeconds + 1 - 20 } });
    const third = limiter.take(first.next, 25, 10, now + (limiter.windowSeconds + 1) * 1_000);
    expect(third.grant).toMatchObject({ granted: 10 });
    expect(Object.keys(third.next?.grants ?? {})).toHaveLength(1);
  });

  test("counts what was granted under a larger subscription", () => {
    const now = 1_800_000_000_000;
    const { next } = limiter.take(undefined, 500, 1_000, now);
    expect(limiter.take(next, 1, 10, now + 5_000).grant).toMatchObject({ granted: 0 });
  });
});

describe("the row", () => {
  test("grants concurrent workers exactly rpm requests together", async () => {
    const now = Date.now();
    const reserve = () => limiter.reserve(7, 100, { now: () => now });
    const grants = await Promise.all(Array.from({ length: 20 }, reserve));
    expect(grants.reduce((sum, { granted }) => sum + granted, 0)).toBe(100);
    for (const grant of grants) {
      if (!("waitSeconds" in grant)) continue;
      expect(grant.waitSeconds).toBeGreaterThan(60);
      expect(grant.waitSeconds).toBeLessThanOrEqual(limiter.windowSeconds + 1);
    }
  });

  test("keeps a tenth of the rate from bulk look-ups, for single calls", async () => {
    expect(await limiter.reserve(25, 10, { bulk: true })).toMatchObject({ granted: 9 });
    expect(await limiter.reserve(1, 10, { bulk: true })).toMatchObject({ granted: 0 });
    expect(await limiter.reserve(1, 10)).toMatchObject({ granted: 1 });
    expect(await limiter.reserve(1, 10)).toMatchObject({ granted: 0 });
  });

  test("lets a subscription of one request a minute send it", async () => {
    expect(await limiter.reserve(3, 1, { bulk: true })).toMatchObject({ granted: 1 });
  });

  test("stays at about a kilobyte with a minute full of grants", () => {
    let row: limiter.LimiterRow | undefined;
    for (let second = 0; second < 150; second++)
      row = limiter.take(row, 3, 1_000, 1_800_000_000_000 + 1_000 * second).next;
    expect(Object.keys(row?.grants ?? {}).length).toBeLessThanOrEqual(limiter.windowSeconds + 1);
    expect(JSON.stringify(row).length).toBeLessThan(1_300);
  });

  test("keeps a pause of everyone, which later grants do not shorten", async () => {
    const before = Date.now();
    const reserveAfter = (seconds: number) =>
      limiter.reserve(1, 1_000, { now: () => before + 1_000 * seconds });
    await limiter.pause(30);
    await limiter.pause(2);
    const after = Math.ceil((Date.now() - before) / 1_000);
    expect(await reserveAfter(31)).toMatchObject({ granted: 0 });
    expect(await reserveAfter(32 + after)).toMatchObject({ granted: 1 });
    expect(await reserveAfter(31)).toMatchObject({ granted: 0 });
  });

  test("keeps all of concurrent pauses and grants", async () => {
    const before = Date.now();
    const grants = await Promise.all([
      ...Array.from({ length: 10 }, () => limiter.reserve(1, 100)),
      ...[5, 9, 7].map((seconds) => limiter.pause(seconds).then(() => undefined)),
    ]);
    const granted = grants.reduce((sum, grant) => sum + (grant?.granted ?? 0), 0);
    const row = await table.get<limiter.LimiterRow>(keys.limiter());
    expect(Object.values(row?.grants ?? {}).reduce((sum, count) => sum + count, 0)).toBe(granted);
    expect(row?.pausedUntil).toBeGreaterThanOrEqual(before + 9_000);
  });
});
