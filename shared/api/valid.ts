import type * as z from "zod/mini";

/** What is wrong first: the path of the field, empty for the input itself, and a sentence that never holds its value. */
export type Problem = { path: string[]; message: string };

const types: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};

const units: Readonly<Record<string, string>> = { string: "characters", array: "entries" };

/** zod/mini has no words of its own, and zod's are for programmers. What a schema says itself comes before these. */
const inWords: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${types[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return issue.input === undefined ? "is required" : `must be ${issue.values.join(" or ")}`;
    case "invalid_union":
      return Array.isArray(issue.options) ? `must be ${issue.options.join(" or ")}` : "is not valid";
    case "too_small":
      return sized(issue.origin, "at least", issue.minimum);
    case "too_big":
      return sized(issue.origin, "at most", issue.maximum);
    default:
      return "is not valid";
  }
};

const sized = (origin: string, bound: string, size: number | bigint): string => {
  const unit = units[origin];
  if (unit === undefined) return `must be ${bound} ${size}`;
  return bound === "at least" && size === 1 ? "must not be empty" : `must have ${bound} ${size} ${unit}`;
};

/** Input as the schema makes it, or what is wrong with it, in English. */
export const valid = <S extends z.ZodMiniType>(
  schema: S,
  input: unknown,
): { data: z.output<S>; problem?: never } | { data?: never; problem: Problem } => {
  const result = schema.safeParse(input, { error: inWords });
  if (result.success) return { data: result.data };
  const [issue] = result.error.issues;
  return {
    problem: { path: (issue?.path ?? []).map(String), message: issue?.message ?? "is not valid" },
  };
};
