import { expect, test } from "vitest";
import { useWorkers } from "../../scanning/in-process-workers.ts";
import { simulate } from "./simulation.ts";
import { faultKinds } from "./workers.ts";

/**
 * FAULTS_SEED repeats a run. FAULTS_EVENTS sets its size: each event makes about two deliveries. FAULTS_RATE
 * is the probability that a step breaks.
 */
const seed = process.env.FAULTS_SEED ?? "1";
const rate = Number(process.env.FAULTS_RATE ?? 0.1);

/** A run of this many events, unless FAULTS_EVENTS says another number. */
export const testRun = (defaultEvents: number): void => {
  const events = Number(process.env.FAULTS_EVENTS ?? defaultEvents);
  useWorkers();
  test(
    "are all delivered or given up, counted exactly, and never posted twice at once",
    async () => {
      const { labels, faults, violations, ...size } = await simulate(seed, events, rate);
      console.log(`FAULTS_SEED=${seed} FAULTS_EVENTS=${events} FAULTS_RATE=${rate}`, size, labels, faults);
      expect(violations).toEqual([]);
      // A small run may not meet every way in which one of its few messages is not sent.
      if (rate > 0) expect(faultKinds.filter((kind) => faults[kind] === undefined).length).toBeLessThan(3);
      for (const name of ["healthy", "flaky", "slow", "down", "disabled"])
        expect([name, labels[name]]).toEqual([name, { delivered: expect.any(Number) }]);
      for (const name of ["dead", "abandoned"])
        expect([name, labels[name]]).toEqual([name, { "not delivered": expect.any(Number) }]);
      expect(labels.removed).toEqual({ gone: expect.any(Number) });
    },
    Math.max(600_000, events * 1_500),
  );
};
