/** Operations of PATCH on the addresses of a user, whose types and values are compared without case. */
import { type Equal, readEqual } from "./filter.ts";
import type { Operation } from "./names.ts";
import { invalid } from "./problem.ts";

type Entry = Record<string, unknown>;

const subAttributes = ["value", "type", "primary", "display"];

const isNothing = (value: unknown): boolean => value === undefined || value === null || value === "";

const lower = (value: unknown): string => String(value).toLowerCase();

const matches = (entry: Entry, equal: readonly Equal[]): boolean =>
  equal.every(({ attribute, value }) =>
    // What is not primary often does not say so.
    attribute === "primary"
      ? lower(entry.primary ?? false) === lower(value)
      : entry[attribute] !== undefined && lower(entry[attribute]) === lower(value),
  );

const isSame = (one: Entry, other: Entry): boolean =>
  lower(one.value) === lower(other.value) && lower(one.type) === lower(other.type);

/** The entries of a value: a list, one entry, or addresses alone. */
const entriesOf = (value: unknown): Entry[] =>
  (Array.isArray(value) ? value : [value]).flatMap((each) => {
    if (isNothing(each)) return [];
    if (typeof each === "string") return [{ value: each }];
    if (typeof each !== "object" || Array.isArray(each))
      throw invalid("invalidValue", "emails: must be a list of objects with a value");
    return [{ ...each }];
  });

/** Changes what `emails` names as a whole. */
const inList = (emails: readonly Entry[], op: Operation["op"], value: unknown): Entry[] => {
  if (op === "remove" && isNothing(value)) return [];
  const given = entriesOf(value);
  if (op === "replace") return given;
  // Clients name what they remove by its address.
  if (op === "remove")
    return emails.filter((entry) => !given.some((gone) => lower(gone.value) === lower(entry.value)));
  const kept = emails.map((entry) => ({ ...entry, ...given.find((each) => isSame(each, entry)) }));
  return [...kept, ...given.filter((each) => !emails.some((entry) => isSame(each, entry)))];
};

/**
 * The entries after an operation on `emails`, `emails.value`, `emails[type eq "work"]` or
 * `emails[type eq "work"].value`. What a filter does not find is added as the filter says, and nothing is
 * removed. Throws a `Problem`.
 */
export const changedEmails = (emails: readonly Entry[], { op, path, value }: Operation): Entry[] => {
  const { filter, subAttribute } = path;
  if (filter === undefined && subAttribute === undefined) return inList(emails, op, value);
  if (subAttribute !== undefined && !subAttributes.includes(subAttribute)) return [...emails];
  const equal = filter === undefined ? [] : readEqual(filter, subAttributes);
  const isGone = op === "remove" || isNothing(value);
  // An address that has no value is none: who shows entries leaves it out.
  const given = subAttribute === undefined ? entriesOf(value)[0] : { [subAttribute]: value };
  const wanted = Object.fromEntries(equal.map(({ attribute, value }) => [attribute, value]));
  if (!emails.some((entry) => matches(entry, equal)))
    return isGone ? [...emails] : [...emails, { ...wanted, ...given }];
  return emails.flatMap((entry): Entry[] => {
    if (!matches(entry, equal)) return [entry];
    if (isGone && (subAttribute === undefined || subAttribute === "value")) return [];
    if (isGone) return [{ ...entry, [subAttribute as string]: undefined }];
    return [
      subAttribute === undefined && op === "replace" ? { ...wanted, ...given } : { ...entry, ...given },
    ];
  });
};
