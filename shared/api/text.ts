import * as z from "zod/mini";

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: they say which characters these are; not \p{Cc}, which not every reader of the OpenAPI document knows
const withoutControl = /^[^\u0000-\u001f\u007f-\u009f]*$/;
const withoutControlButTabAndNewline = /^(?:[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\r\n)*$/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: as above

/** At most so many characters, as people and JSON Schema count them: an emoji is one, not two. */
const atMost = (maximum: number) =>
  z.string().check(
    z.refine((value) => [...value].length <= maximum, `must have at most ${maximum} characters`),
    z.meta({ maxLength: maximum }),
  );

/** Text of a person: well-formed Unicode without control characters (decisions.md "Smaller points"). */
export const text = (maximum: number, options: { multiline?: boolean } = {}) =>
  atMost(maximum).check(
    z.refine((value) => value.isWellFormed(), "must be well-formed Unicode"),
    z.regex(
      options.multiline ? withoutControlButTabAndNewline : withoutControl,
      "must not contain control characters",
    ),
  );

/** A time in replies: ISO 8601, UTC, milliseconds. */
export const timestamp = z
  .string()
  .check(z.meta({ format: "date-time", examples: ["2026-11-21T09:30:00.000Z"] }));
