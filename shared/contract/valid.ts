import type * as z from "zod/mini";
import { anyOf } from "./text.ts";

/** The first problem of an input; `path` is empty for the input itself, `message` never quotes the value. */
type Problem = { path: string[]; message: string };

const types: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "an integer",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};

const units: Readonly<Record<string, string>> = { string: "characters", array: "entries" };

/**
 * Messages for schemas that bring none: zod/mini has none built in, and zod's messages are for programmers.
 */
const inEnglish: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : `must be ${types[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return issue.input === undefined ? "is required" : `must be ${anyOf(issue.values)}`;
    case "invalid_union":
      return Array.isArray(issue.options) ? `must be ${anyOf(issue.options)}` : "is not valid";
    case "unrecognized_keys":
      return "is an unknown field";
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

/** Parses input: the schema's output, or the first problem in English. */
export const valid = <S extends z.ZodMiniType>(
  schema: S,
  input: unknown,
): { data: z.output<S>; problem?: never } | { data?: never; problem: Problem } => {
  const result = schema.safeParse(input, { error: inEnglish });
  if (result.success) return { data: result.data };
  const [issue] = result.error.issues;
  const [unknown] = issue?.code === "unrecognized_keys" ? issue.keys : [];
  const path = [...(issue?.path ?? []), ...(unknown === undefined ? [] : [unknown])];
  return { problem: { path: path.map(String), message: issue?.message ?? "is not valid" } };
};
