/**
 * Finds differences between rows that must agree, while the service is at work. The rows of one subject are
 * read one after another, so a single reading can see a change half made: only what several readings in a row
 * show is reported.
 */
import { setTimeout } from "node:timers/promises";
import { chunk } from "../../aws/table/chunk.ts";
import * as table from "../../aws/table/table.ts";

/** What an inspection is about: a kind of thing and its id. */
export type Subject = { kind: string; id: number };

/**
 * What is wrong with a subject; `says` holds ids and counts only. It has either `repair` or advice for a
 * person.
 */
export type Problem = {
  says: string;
  /** Writes on condition that the rows are still as they were read. */
  repair?: (() => Promise<void>) | undefined;
  advice?: string | undefined;
};

/** A problem as it is reported. */
export type Difference = Subject & { says: string; repaired: boolean; advice?: string };

/** The result of an inspection that saw its rows change between two reads: it proves nothing. */
export const changedDuringRead = Symbol("changed during read");

/** Reads a subject's rows afresh; undefined when they agree. */
export type Inspection<P extends Problem> = () => Promise<P | typeof changedDuringRead | undefined>;

export type Inspector = {
  /** The first thousand. */
  differences: Difference[];
  /** All differences, the repaired ones included. */
  differenceCount: number;
  repairedCount: number;
  /** Subjects that changed in every reading. */
  unsettled: Subject[];
  /**
   * Inspects a subject, reports a problem and, with `repair`, repairs it. Gives a problem that is not
   * repaired.
   */
  inspect: <P extends Problem>(subject: Subject, inspection: Inspection<P>) => Promise<P | undefined>;
  inspectAll: (
    kind: string,
    ids: readonly number[],
    inspectionOf: (id: number) => Inspection<Problem>,
  ) => Promise<void>;
};

/** How many readings in a row must show the same problem before it is reported. */
const equalReadings = 3;
const maximumReadings = 30;
const maximumRepairs = 5;

/** The first pauses are short, because most problems are changes half made. */
const pauseMilliseconds = (reading: number): number => Math.min(10 * 2 ** reading, 300);

/** Further differences are only counted. */
const maximumListed = 1000;

/** Subjects inspected at the same time. */
const concurrency = 8;

export const createInspector = ({ repair }: { repair: boolean }): Inspector => {
  const report = (subject: Subject, problem: Problem, repaired: boolean): void => {
    inspector.differenceCount++;
    if (repaired) inspector.repairedCount++;
    if (inspector.differences.length >= maximumListed) return;
    const { says, advice } = problem;
    inspector.differences.push({
      ...subject,
      says,
      repaired,
      ...(!repaired && advice !== undefined && { advice }),
    });
  };

  const inspector: Inspector = {
    differences: [],
    differenceCount: 0,
    repairedCount: 0,
    unsettled: [],
    inspect: async (subject, inspection) => {
      let repaired: Problem | undefined;
      for (let repairs = 0; ; repairs++) {
        const problem = await readUntilSettled(inspection);
        if (problem === changedDuringRead) {
          inspector.unsettled.push(subject);
          return undefined;
        }
        if (problem === undefined) {
          if (repaired !== undefined) report(subject, repaired, true);
          return undefined;
        }
        if (!repair || problem.repair === undefined || repairs >= maximumRepairs) {
          report(subject, problem, false);
          return problem;
        }
        const { written } = await table.attempt(problem.repair());
        // A failed condition means that the rows have changed since they were read. The next inspection reads
        // them again.
        if (written) repaired ??= problem;
      }
    },
    inspectAll: async (kind, ids, inspectionOf) => {
      for (const some of chunk(ids, concurrency)) {
        await Promise.all(some.map((id) => inspector.inspect({ kind, id }, inspectionOf(id))));
      }
    },
  };
  return inspector;
};

const readUntilSettled = async <P extends Problem>(
  inspection: Inspection<P>,
): Promise<P | typeof changedDuringRead | undefined> => {
  let last: P | undefined;
  let equal = 0;
  for (let reading = 0; reading < maximumReadings; reading++) {
    const problem = await inspection();
    if (problem === undefined) return undefined;
    if (problem === changedDuringRead) equal = 0;
    else {
      equal = problem.says === last?.says ? equal + 1 : 1;
      last = problem;
      if (equal >= equalReadings) return problem;
    }
    await setTimeout(pauseMilliseconds(reading));
  }
  return changedDuringRead;
};
