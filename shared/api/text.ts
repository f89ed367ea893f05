import * as z from "zod";

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: they say which characters these are; not \p{Cc}, which not every reader of the OpenAPI document knows
const withoutControl = /^[^\u0000-\u001f\u007f-\u009f]*$/;
const withoutControlButTabAndNewline = /^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: as above

/** At most so many characters, as people and JSON Schema count them: an emoji is one, not two. */
export const atMost = (maximum: number) =>
  z
    .string()
    .refine((value) => [...value].length <= maximum, `must have at most ${maximum} characters`)
    .meta({ maxLength: maximum });

/** Text of a person: well-formed Unicode without control characters (decisions.md "Smaller points"). */
export const text = (maximum: number, options: { multiline?: boolean } = {}) =>
  atMost(maximum)
    .refine((value) => value.isWellFormed(), "must be well-formed Unicode")
    .regex(
      options.multiline ? withoutControlButTabAndNewline : withoutControl,
      "must not contain control characters",
    );

/** A time in replies: ISO 8601, UTC, milliseconds. */
export const timestamp = z.string().meta({ format: "date-time", examples: ["2026-11-21T09:30:00.000Z"] });
