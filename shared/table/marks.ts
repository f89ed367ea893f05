/**
 * Where in a block the members of a facet are, noted when the block is rolled up (directory.ts): the places, counted from the
 * first id, of every member while there are 16, otherwise of the newest and then of every second, third … so that they are 16 at
 * most. Newest first, each two digits to the base 36: `8j1f00`.
 */
import { firstIdOf } from "./blocks.ts";

/** Encoded facet to the marks of its members. */
export type Marks = ReadonlyMap<string, string>;

const marksPerFacet = 16;

/** Of how many members one is marked. */
export const markStep = (count: number): number => Math.ceil(count / marksPerFacet);

/** Of all ids of a block that have the facet, ascending. */
export const marksOf = (block: number, ids: readonly number[]): string => {
  const step = markStep(ids.length);
  const marked = ids.toReversed().filter((_, index) => index % step === 0);
  return marked.map((id) => (id - firstIdOf(block)).toString(36).padStart(2, "0")).join("");
};

/** Newest first. */
export const markedIds = (block: number, marks: string): number[] => {
  const ids: number[] = [];
  for (let index = 0; index < marks.length; index += 2) {
    ids.push(firstIdOf(block) + Number.parseInt(marks.slice(index, index + 2), 36));
  }
  return ids;
};
