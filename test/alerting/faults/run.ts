import { afterAll, beforeAll, expect, test } from "vitest";
import { wire } from "../../../shared/aws/table/clients.ts";
import { type Engine, startEngine } from "../../aws/table/engine.ts";
import { startParameterStore } from "../parameter-store.ts";
import { faultKinds } from "./faults.ts";
import { type Result, simulate } from "./simulation.ts";

/**
 * FAULTS_SEED repeats a run. FAULTS_EVENTS sets its size: each event makes about two deliveries. FAULTS_RATE
 * is the probability that a step breaks.
 */
const seed = process.env.FAULTS_SEED ?? "1";
const faultRate = Number(process.env.FAULTS_RATE ?? 0.1);

let engine: Engine;
let parameters: Awaited<ReturnType<typeof startParameterStore>>;

/** Starts the table engine for the tests of a file. */
export const useEngine = (): void => {
  beforeAll(async () => {
    engine = await startEngine();
    parameters = await startParameterStore();
  });
  afterAll(async () => {
    wire().destroy();
    await parameters.close();
    await engine.stop();
  });
};

export const run = (events: number, name = seed): Promise<Result> =>
  simulate({ url: engine.url, seed: name, events, faultRate });

/** A run of this many events, unless FAULTS_EVENTS says another number. */
export const testRun = (defaultEvents: number): void => {
  const events = Number(process.env.FAULTS_EVENTS ?? defaultEvents);
  test(
    "are all delivered or given up, counted exactly, and never posted twice at once",
    async () => {
      const startedAt = Date.now();
      const result = await run(events);
      console.log(
        `FAULTS_SEED=${seed} FAULTS_EVENTS=${events} FAULTS_RATE=${faultRate}: ${result.deliveries} deliveries, ${result.posts} posts, ` +
          `${result.virtualHours} hours in ${Math.round((Date.now() - startedAt) / 1000)} s, ${result.violations.length} violations`,
        result.faults,
        result.labels,
      );
      expect(result.violations).toEqual([]);
      if (faultRate > 0) expect(Object.keys(result.faults)).toEqual(expect.arrayContaining([...faultKinds]));
      expect(result.deliveries).toBeGreaterThan(events);
      for (const name of ["healthy", "flaky", "slow", "down", "disabled"]) {
        expect(result.labels[name]).toEqual({ delivered: expect.any(Number) });
      }
      for (const name of ["dead", "abandoned"]) {
        expect(result.labels[name]).toEqual({ "not delivered": expect.any(Number) });
      }
      expect(result.labels.removed).toEqual({ gone: expect.any(Number) });
    },
    Math.max(600_000, events * 1_500),
  );
};
