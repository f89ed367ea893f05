import { en } from "zod/locales";
import type * as z from "zod/mini";

/** What is wrong first: the path of the field, empty for the input itself, and a sentence that never holds its value. */
export type Problem = { path: string[]; message: string };

/** zod/mini, half of zod in every function's bundle, has no words of its own. Made when something is wrong. */
const english: z.core.$ZodErrorMap = (issue) => en().localeError(issue);

/** Input as the schema makes it, or what is wrong with it, in English. */
export const valid = <S extends z.ZodMiniType>(
  schema: S,
  input: unknown,
): { data: z.output<S>; problem?: never } | { data?: never; problem: Problem } => {
  const result = schema.safeParse(input, { error: english });
  if (result.success) return { data: result.data };
  const [issue] = result.error.issues;
  return {
    problem: { path: (issue?.path ?? []).map(String), message: issue?.message ?? "is not valid" },
  };
};
