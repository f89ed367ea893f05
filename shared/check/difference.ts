/**
 * Differences between rows that must agree, found while the service is at work. Rows are read one after another, so a
 * single reading can see a change half made. A difference is one that several readings in a row show alike.
 */
import { setTimeout } from "node:timers/promises";
import { type Condition, condition } from "../table/condition.ts";
import { parts } from "../table/parts.ts";
import * as table from "../table/table.ts";

/** What a difference is at: a kind of thing and its id. */
export type Subject = { kind: string; id: number };

/** What is wrong with a subject, in ids and counts only. It has `mend`, or `advice` for a person. */
export type Found = {
  says: string;
  mend?: (() => Promise<void>) | undefined;
  advice?: string | undefined;
};

export type Difference = Subject & { says: string; repaired: boolean; advice?: string };

/** A reading during which the subject changed tells nothing. */
export const moving = Symbol("moving");

/** Reads a subject afresh; undefined when it is right. */
export type Look<F extends Found> = () => Promise<F | typeof moving | undefined>;

const readingsAlike = 3;
const maximumReadings = 30;
const maximumMends = 5;

/** Short at first: most differences are changes half made. */
const pauseMilliseconds = (reading: number): number => Math.min(10 * 2 ** reading, 300);

/** Differences that are told one by one; further ones are only counted. */
const maximumTold = 1000;

/** Subjects looked at again at the same time. */
const width = 8;

export type Examination = {
  /** The first thousand. */
  differences: Difference[];
  /** How many there are, those repaired included. */
  differenceCount: number;
  repairedCount: number;
  /** What changed in every reading, so that nothing can be said of it. */
  unsettled: Subject[];
  /** Looks at a subject, tells what is wrong and, where that is asked for, mends it. What is wrong and stays so. */
  examine: <F extends Found>(subject: Subject, look: Look<F>) => Promise<F | undefined>;
  examineAll: (kind: string, ids: readonly number[], lookAt: (id: number) => Look<Found>) => Promise<void>;
};

export const beginExamination = ({ repair }: { repair: boolean }): Examination => {
  const tell = (subject: Subject, found: Found, repaired: boolean): void => {
    examination.differenceCount++;
    if (repaired) examination.repairedCount++;
    if (examination.differences.length >= maximumTold) return;
    const { says, advice } = found;
    examination.differences.push({
      ...subject,
      says,
      repaired,
      ...(!repaired && advice !== undefined && { advice }),
    });
  };

  const examination: Examination = {
    differences: [],
    differenceCount: 0,
    repairedCount: 0,
    unsettled: [],
    examine: async (subject, look) => {
      let first: Found | undefined;
      for (let mends = 0; ; mends++) {
        const found = await settled(look);
        if (found === moving) {
          examination.unsettled.push(subject);
          return undefined;
        }
        if (found === undefined) {
          if (first !== undefined) tell(subject, first, true);
          return undefined;
        }
        if (!repair || found.mend === undefined || mends >= maximumMends) {
          tell(subject, found, false);
          return found;
        }
        try {
          await found.mend();
          first ??= found;
        } catch (error) {
          // It changed since it was read: look again.
          if (!(error instanceof table.ConditionFailed || error instanceof table.TransactionRefused))
            throw error;
        }
      }
    },
    examineAll: async (kind, ids, lookAt) => {
      for (const part of parts(ids, width)) {
        await Promise.all(part.map((id) => examination.examine({ kind, id }, lookAt(id))));
      }
    },
  };
  return examination;
};

const settled = async <F extends Found>(look: Look<F>): Promise<F | typeof moving | undefined> => {
  let last: F | undefined;
  let alike = 0;
  for (let reading = 0; reading < maximumReadings; reading++) {
    const found = await look();
    if (found === undefined) return undefined;
    if (found === moving) alike = 0;
    else {
      alike = found.says === last?.says ? alike + 1 : 1;
      last = found;
      if (alike >= readingsAlike) return found;
    }
    await setTimeout(pauseMilliseconds(reading));
  }
  return moving;
};

/** That attributes are as they were read; undefined: that there is no such attribute. */
export const asRead = (attributes: Record<string, unknown>): Condition => {
  const entries = Object.entries(attributes).map(([name, value], index) => ({
    name,
    value,
    as: `read${index}`,
  }));
  return {
    ...condition(
      entries
        .map(({ value, as }) => (value === undefined ? `attribute_not_exists(#${as})` : `#${as} = :${as}`))
        .join(" AND "),
      Object.fromEntries(entries.flatMap(({ value, as }) => (value === undefined ? [] : [[as, value]]))),
    ),
    names: Object.fromEntries(entries.map(({ name, as }) => [as, name])),
  };
};
