/** Rows that can be computed from other rows: how they differ from what they must hold, and how they are repaired. */
import { allOf, asRead, exists, type Item, type Write } from "../../aws/table/condition.ts";
import type { Key } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { Problem, Subject } from "./inspector.ts";

/** What other rows say about a row. */
type Derived = {
  key: Key;
  /** As it was read, before the rows that it follows from. */
  row: object | undefined;
  /**
   * What the row must hold, by attribute or path (as of an update); undefined: nothing. It may hold other attributes.
   * "no row": there must be none.
   */
  holds: Item | "no row";
  /** Attributes that this was derived from. With `writes`, the writes to a row are counted. */
  reliesOn?: readonly string[];
  /** Other rows that it was derived from are as they were read. */
  given?: readonly Write[];
  /** Default: what each wrong attribute is and should be. */
  says?: string;
  /** As of a problem. Default: of the wrong attributes, and of those that it relies on. */
  isStill?: () => Promise<boolean>;
};

/** Wrong attributes that one repair corrects: an expression may have 4 KB. The next reading finds the others. */
const maximumPerRepair = 50;

/** What is wrong with a row; nothing if it holds what it must. */
export const compare = (
  subject: Subject,
  { key, row, holds, reliesOn = [], given = [], says, isStill }: Derived,
): Problem[] => {
  const should: Item = holds === "no row" ? Object.fromEntries(attributesOf(row)) : holds;
  // DynamoDB gives attributes in any order. Two readings of one problem must say the same.
  const differing = Object.keys(should)
    .filter((name) => holds === "no row" || !isSame(valueAt(row, name), should[name]))
    .sort();
  if (differing.length === 0) return [];
  // A row that is not there gets its zeros too.
  const wrong = (row === undefined ? Object.keys(should).sort() : differing).slice(0, maximumPerRepair);
  const before = Object.fromEntries([...wrong, ...reliesOn].map((name) => [name, valueAt(row, name)]));
  const texts = wrong.map((name) => `${name} is ${textOf(before[name])}, should be ${textOf(should[name])}`);
  const unchanged = allOf(row && exists, asRead(before));
  const correction: Write =
    holds === "no row"
      ? { delete: key, if: unchanged }
      : {
          update: key,
          set: Object.fromEntries(wrong.map((name) => [name, holds[name]])),
          remove: wrong.filter((name) => holds[name] === undefined),
          add: "writes" in before ? { writes: 1 } : {},
          if: unchanged,
        };
  return [
    {
      ...subject,
      topic: `${key.pk} ${key.sk}`,
      says: says ?? texts.join("; "),
      isStill: isStill ?? (() => holdsStill(key, before)),
      repair: () => [correction, ...given],
    },
  ];
};

const holdsStill = async (key: Key, before: Item): Promise<boolean> => {
  const now = await table.get(key);
  return Object.keys(before).every((name) => isSame(valueAt(now, name), before[name]));
};

const attributesOf = (row: object | undefined): [string, unknown][] =>
  Object.entries(row ?? {}).filter(([name]) => name !== "pk" && name !== "sk");

const valueAt = (row: object | undefined, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => (value as Item | undefined)?.[name], row);

/** A number that is not there is 0. */
const isSame = (one: unknown, other: unknown): boolean => textOf(one ?? 0) === textOf(other ?? 0);

const textOf = (value: unknown): string => {
  if (value === undefined) return "none";
  if (value instanceof Set) return [...value].sort((one, other) => one - other).join(",") || "none";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
};

type Due = { key: Key; row: { dueAt?: string }; shard: string | undefined; reliesOn?: readonly string[] };

/** Open work must be in its shard of the due index; finished work (no shard) must not be in it. */
export const compareDue = (subject: Subject, { shard, ...derived }: Due): Problem[] =>
  compare(
    subject,
    shard === undefined
      ? {
          ...derived,
          holds: { dueShard: undefined, dueAt: undefined },
          says: "it is over and has an entry in the due index",
        }
      : {
          ...derived,
          holds: { dueShard: shard, dueAt: derived.row.dueAt ?? new Date().toISOString() },
          says: "it is not over and has no entry in the due index",
        },
  );
