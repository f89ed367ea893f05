import * as z from "zod/mini";

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: the OpenAPI document holds these patterns, and not every reader of it supports \p{Cc}
const withoutControl = /^[^\u0000-\u001f\u007f-\u009f]*$/;
const withoutControlButTabAndNewline = /^(?:[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]|\r\n)*$/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: as above

/** At most `maximum` Unicode code points, as JSON Schema counts them: most emoji are one, not two. */
const atMost = (maximum: number) =>
  z.string().check(
    z.refine((value) => [...value].length <= maximum, `must have at most ${maximum} characters`),
    z.meta({ maxLength: maximum }),
  );

/** Text of a person: well-formed Unicode without control characters. `multiline` allows tabs and newlines. */
export const text = (maximum: number, options: { multiline?: boolean } = {}) =>
  atMost(maximum).check(
    z.refine((value) => value.isWellFormed(), "must be well-formed Unicode"),
    z.regex(
      options.multiline ? withoutControlButTabAndNewline : withoutControl,
      "must not contain control characters",
    ),
  );

/** Trimmed text that is more than white space. */
export const nonBlank = (maximum: number) => text(maximum).check(z.trim(), z.minLength(1));

/** A text of a reply, and what it looks like in the OpenAPI document. */
export const textSuchAs = (example: string) => z.string().check(z.meta({ examples: [example] }));

/** A time in replies: ISO 8601 in UTC with milliseconds. */
export const timestamp = z
  .string()
  .check(z.meta({ format: "date-time", examples: ["2026-11-21T09:30:00.000Z"] }));

/** Such as "email, slack, or webhook". */
export const anyOf = (values: Iterable<unknown>): string =>
  new Intl.ListFormat("en", { type: "disjunction" }).format([...values].map(String));
