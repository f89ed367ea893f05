/** What functions report of their runs in the logs of a local run, as they do on AWS. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { StackInformation } from "../local/stack-information.ts";
import type { Bench } from "./service.ts";

/** One run: what is paid for it, and for the instance's start if it was its first. */
export type Run = { name: string; gigabyteSeconds: number; startGigabyteSeconds: number };

export type Logs = {
  /** Since the last time, of the functions that are wanted (default: all): their runs, and how much they logged. */
  take: (isWanted?: (name: string) => boolean) => { runs: Run[]; bytes: number };
  /** Waits until a function has run this often since the last `take`. */
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
          throw new Error(`${name} did not run ${times} times:\n${service.output()}`);
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
      // Billed by the millisecond.
      const billed = (milliseconds: number) =>
        (Math.ceil(milliseconds) / 1000) * (metrics.memorySizeMB / 1024);
      return {
        name,
        gigabyteSeconds: billed(metrics.durationMs),
        startGigabyteSeconds: billed(metrics.initDurationMs ?? 0),
      };
    });
