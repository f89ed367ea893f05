/**
 * Finds differences between rows that must agree, while the service is at work. Rows are read one after another, so a
 * single reading can see a change half made: only what several readings in a row show is reported.
 */
import { setTimeout } from "node:timers/promises";
import type { Write } from "../../aws/table/condition.ts";
import * as table from "../../aws/table/table.ts";

/** What is compared: a kind of thing and its id. */
export type Subject = { kind: string; id: number };

export type Problem = Subject & {
  /** Tells problems of one subject apart. */
  topic: string;
  /** What is wrong, with ids and counts only. */
  says: string;
  /**
   * Whether the row is still as it was read, before the rows that it follows from. If it is not, the
   * reading proves nothing.
   */
  isStill?: () => Promise<boolean>;
  /** Gives a transaction whose conditions hold if the rows are still as they were read. */
  repair?: () => Write[] | Promise<Write[]>;
  /** What a person can do where there is no repair. */
  advice?: string;
};

/** A problem as it is reported. */
export type Difference = Subject & { says: string; repaired: boolean; advice?: string };

/** Reads rows afresh and gives their problems. */
type Comparison = () => Promise<Problem[]>;

/** How many readings in a row must show the same problem before it is reported. */
const equalReadings = 3;
const maximumReadings = 30;

/** The first pauses are short, because most problems are changes half made. */
const pauseMilliseconds = (reading: number): number => Math.min(10 * 2 ** reading, 300);

/** A repair corrects as many attributes of a row as one update can name. */
const maximumRepairs = 100;

/** Rows that refuse every repair so many times in a row contradict it, and are not merely busy. */
const maximumRefused = 10;

/** Further differences are only counted. */
const maximumListed = 1000;

const identityOf = ({ kind, id, topic }: Problem): string => `${kind} ${id} ${topic}`;

export class Inspector {
  /** The first thousand. */
  readonly differences: Difference[] = [];
  /** All differences, the repaired ones included. */
  differenceCount = 0;
  repairedCount = 0;
  /** Subjects that changed in every reading. */
  readonly unsettled: Subject[] = [];
  readonly #repairs: boolean;

  constructor({ repair }: { repair: boolean }) {
    this.#repairs = repair;
  }

  /** Reports problems and, if that is wanted, repairs them. Gives the remaining ones. */
  async check(comparison: Comparison): Promise<Problem[]> {
    const repaired = new Map<string, Problem>();
    let { shown, changing } = await readings(comparison);
    let refused = 0;
    for (let repairs = 0; this.#repairs && repairs < maximumRepairs && refused < maximumRefused; repairs++) {
      const repairable = shown.filter(({ repair }) => repair !== undefined);
      if (repairable.length === 0) break;
      refused++;
      for (const problem of repairable) {
        const writes = (await problem.repair?.()) ?? [];
        // A failed condition means that the rows have changed since they were read. They are read again.
        const { written } = await table.attempt(table.transact(writes));
        if (written) refused = 0;
        const identity = identityOf(problem);
        if (written && !repaired.has(identity)) repaired.set(identity, problem);
      }
      ({ shown, changing } = await readings(comparison));
    }
    const left = [...shown, ...changing];
    for (const problem of left) repaired.delete(identityOf(problem));
    for (const { kind, id } of changing) this.unsettled.push({ kind, id });
    for (const problem of shown) this.#report(problem, false);
    for (const problem of repaired.values()) this.#report(problem, true);
    return left;
  }

  #report({ kind, id, says, advice }: Problem, repaired: boolean): void {
    this.differenceCount++;
    if (repaired) this.repairedCount++;
    if (this.differences.length >= maximumListed) return;
    const isAdvised = !repaired && advice !== undefined;
    this.differences.push({ kind, id, says, repaired, ...(isAdvised && { advice }) });
  }
}

/** A problem, and how many readings in a row have shown it. */
type Suspect = { problem: Problem; equal: number };

/** The problems that enough readings in a row have shown, and those that changed from reading to reading. */
const readings = async (comparison: Comparison): Promise<{ shown: Problem[]; changing: Problem[] }> => {
  let suspects: ReadonlyMap<string, Suspect> | undefined;
  for (let reading = 0; ; reading++) {
    const wrong = new Map<string, Suspect>();
    for (const problem of await comparison()) {
      const identity = identityOf(problem);
      const before = suspects?.get(identity);
      // What is damaged shows in the first reading.
      if (suspects !== undefined && before === undefined) continue;
      const isStill = problem.isStill === undefined || (await problem.isStill());
      const equal = before?.problem.says === problem.says ? before.equal : 0;
      wrong.set(identity, { problem, equal: isStill ? equal + 1 : 0 });
    }
    suspects = wrong;
    const all = [...wrong.values()];
    const isShown = ({ equal }: Suspect): boolean => equal >= equalReadings;
    if (all.every(isShown) || reading === maximumReadings) {
      const problemsOf = (some: Suspect[]) => some.map(({ problem }) => problem);
      return {
        shown: problemsOf(all.filter(isShown)),
        changing: problemsOf(all.filter((each) => !isShown(each))),
      };
    }
    await setTimeout(pauseMilliseconds(reading));
  }
};
