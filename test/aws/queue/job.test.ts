/** When the sweep wakes a worker of a job, and when it gives the job up. */
import { expect, test } from "vitest";
import { logger } from "../../../bench/in-process.ts";
import { alive, type Job, newJob, sweepJob } from "../../../shared/aws/queue/job.ts";
import { type Key, keys } from "../../../shared/aws/table/keys.ts";
import * as table from "../../../shared/aws/table/table.ts";
import { useEngine } from "../table/engine.ts";

useEngine();

const minute = 60_000;
const begun = Date.parse("2026-01-02T03:04:05.678Z");
let jobs = 0;

const begin = async (): Promise<Key> => {
  const key = keys.removal(1, ++jobs);
  await table.put({ ...key, ...newJob("REMOVAL", 1, new Date(begun).toISOString()) });
  return key;
};

const read = async (key: Key): Promise<Job> => {
  const job = await table.get<Job>(key);
  if (job === undefined) throw new Error("The job is over");
  return job;
};

/** Sweeps at this many minutes after the beginning. `job`: as it was read before. */
const sweep = async (
  key: Key,
  minutes: number,
  { progress, job, isEndless = false }: { progress?: string; job?: Job; isEndless?: boolean } = {},
): Promise<"woken" | "given up" | undefined> => {
  let result: "woken" | "given up" | undefined;
  const note = (what: typeof result) => async (): Promise<void> => {
    result = what;
  };
  await sweepJob(
    key,
    job ?? (await read(key)),
    {
      ...(progress !== undefined && { progress }),
      wake: note("woken"),
      ...(!isEndless && { giveUp: note("given up") }),
    },
    { now: new Date(begun + minutes * minute), silenceSeconds: 60, logger },
  );
  return result;
};

/** The minutes, of so many, at which a job is woken that nobody works at. */
const wakesOf = async (key: Key, minutes: number, isEndless = false): Promise<number[]> => {
  const wakes: number[] = [];
  for (let at = 1; at <= minutes; at++) if ((await sweep(key, at, { isEndless })) === "woken") wakes.push(at);
  return wakes;
};

test("a silent job is woken after a minute, then each time twice as late, and given up", async () => {
  const key = await begin();
  expect(await sweep(key, 0.99)).toBeUndefined();
  expect(await wakesOf(key, 62)).toEqual([1, 3, 7, 15, 31]);
  expect(await sweep(key, 62.99)).toBeUndefined();
  expect(await sweep(key, 63)).toBe("given up");
  // It is given up again if that failed.
  expect(await sweep(key, 64)).toBe("given up");
});

test("a job that nobody gives up is woken every half an hour", async () => {
  expect(await wakesOf(await begin(), 130, true)).toEqual([1, 3, 7, 15, 31, 63, 95, 127]);
});

test("with progress the silence is a minute again", async () => {
  const key = await begin();
  await wakesOf(key, 15);
  expect(await sweep(key, 16, { progress: "1" })).toBe("woken");
  expect(await sweep(key, 17, { progress: "1" })).toBeUndefined();
  expect(await sweep(key, 18, { progress: "1" })).toBe("woken");
});

test("signs of life without progress put off the next wake, but shorten no silence", async () => {
  const key = await begin();
  await wakesOf(key, 7);
  await table.update(key, { set: { dueAt: new Date(begun + 8 * minute).toISOString() } });
  expect(await sweep(key, 15.99)).toBeUndefined();
  expect(await sweep(key, 16)).toBe("woken");
});

test("a job whose worker waits is not woken", async () => {
  const key = await begin();
  await table.update(key, { set: alive(600) });
  const minutes = (Date.now() - begun) / minute;
  expect(await sweep(key, minutes + 10.9)).toBeUndefined();
  expect(await sweep(key, minutes + 11.1)).toBe("woken");
});

test("a job that has gone on or ended since its row was read is left alone", async () => {
  const key = await begin();
  const job = await read(key);
  await table.update(key, { set: alive() });
  const goneOn = await read(key);
  expect(await sweep(key, 5, { job })).toBeUndefined();
  expect(await read(key)).toEqual(goneOn);
  await table.remove(key);
  expect(await sweep(key, 5, { job })).toBeUndefined();
  expect(await table.get(key)).toBeUndefined();
});

test("of sweeps at the same time one wakes a worker", async () => {
  const key = await begin();
  const job = await read(key);
  const results = await Promise.all([1, 2, 3].map((later) => sweep(key, 1 + later / 100, { job })));
  expect(results.filter((result) => result === "woken")).toHaveLength(1);
});
