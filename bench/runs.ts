/**
 * The runs of functions, read from the reports in the logs of a local run, which have the form of Lambda's.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { StackInformation } from "../local/stack-information.ts";
import type { Bench } from "./service.ts";

/**
 * One billed run of a function. `startGigabyteSeconds`: of the instance's start; 0 unless it was the
 * instance's first run.
 */
export type Run = { name: string; gigabyteSeconds: number; startGigabyteSeconds: number };

export type Logs = {
  /**
   * Runs and logged bytes of the wanted functions (default: all) since the last `take`, which forgets all
   * functions.
   */
  take: (isWanted?: (name: string) => boolean) => { runs: Run[]; bytes: number };
  /** Waits until a function has run this many times since the last `take`. */
  until: (name: string, times: number) => Promise<void>;
};

type Report = { metrics: { durationMs: number; initDurationMs?: number; memorySizeMB: number } };

const lookAgainMilliseconds = 100;
const patienceMilliseconds = 180_000;

export const openLogs = async ({ service }: Bench): Promise<Logs> => {
  const answer = await fetch(new URL("/.local/stack", service.apiUrl));
  const { stackName, dataDirectory } = (await answer.json()) as StackInformation;
  const directory = join(dataDirectory, "logs");
  const taken = new Map<string, number>();
  const read = (): { name: string; text: Buffer }[] =>
    readdirSync(directory).map((file) => ({
      name: file.slice(stackName.length + 1, -".log".length),
      text: readFileSync(join(directory, file)),
    }));
  const fresh = ({ name, text }: { name: string; text: Buffer }) => text.subarray(taken.get(name) ?? 0);
  return {
    take: (isWanted = () => true) => {
      const all = read();
      const wanted = all.filter(({ name }) => isWanted(name));
      const runs = wanted.flatMap((log) => runsIn(log.name, fresh(log)));
      const bytes = wanted.reduce((total, log) => total + fresh(log).length, 0);
      for (const { name, text } of all) taken.set(name, text.length);
      return { runs, bytes };
    },
    until: async (name, times) => {
      const ran = (): boolean =>
        read()
          .filter((log) => log.name === name)
          .flatMap((log) => runsIn(name, fresh(log))).length >= times;
      for (const deadline = Date.now() + patienceMilliseconds; !ran(); ) {
        if (Date.now() > deadline)
          throw new Error(
            `${name} did not run ${times} times within ${patienceMilliseconds / 1000} s:\n${service.output()}`,
          );
        await new Promise((resolve) => setTimeout(resolve, lookAgainMilliseconds));
      }
    },
  };
};

const runsIn = (name: string, log: Buffer): Run[] =>
  log
    .toString("utf8")
    .split("\n")
    .filter((line) => line.includes('"platform.report"'))
    .map((line) => {
      const { metrics } = (JSON.parse(line) as { record: Report }).record;
      // Lambda bills each started millisecond.
      const billed = (milliseconds: number) =>
        (Math.ceil(milliseconds) / 1000) * (metrics.memorySizeMB / 1024);
      return {
        name,
        gigabyteSeconds: billed(metrics.durationMs),
        startGigabyteSeconds: billed(metrics.initDurationMs ?? 0),
      };
    });
