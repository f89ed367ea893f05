import * as z from "zod";

const control = /\p{Cc}/u;
const controlButTabAndNewline = /[^\P{Cc}\t\n\r]/u;

/** Text of a person: well-formed Unicode without control characters (decisions.md "Smaller points"). */
export const text = (maximum: number, options: { multiline?: boolean } = {}) =>
  z
    .string()
    .max(maximum)
    .refine((value) => value.isWellFormed(), "must be well-formed Unicode")
    .refine(
      (value) => !(options.multiline ? controlButTabAndNewline : control).test(value),
      "must not contain control characters",
    );
