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

/**
 * Characters that nobody sees: of format (Unicode's Cf), separators of lines and paragraphs, and fillers of Hangul. Two joiners stay
 * beside letters beyond ASCII, because Persian, Indic scripts and emoji are written with them.
 */
export const unseen =
  /[\u200c\u200d](?![^\0-\x7f])|(?<![^\0-\x7f])[\u200c\u200d]|(?![\u200c\u200d])[\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** What programs make a link of. The name of a domain alone stays: companies are called so. */
const link = /[a-z][a-z\d+.-]{0,30}:\/\/|\bmailto:|\bwww\.|[\p{L}\p{N}]\.\p{L}{2,}[/:?#]\S/iu;

/** The name of an organization, a person, a team or a channel. Others read it, also in mails to strangers. */
export const nameOf = (maximum: number) =>
  nonBlank(maximum).check(
    z.refine((name) => name.search(unseen) < 0, "must not contain invisible characters"),
    z.refine((name) => !link.test(name), "must not contain a link"),
  );

/** A text of a reply, and what it looks like in the OpenAPI document. */
export const textSuchAs = (example: string) => z.string().check(z.meta({ examples: [example] }));

/** A time in replies: ISO 8601 in UTC with milliseconds. */
export const timestamp = z
  .string()
  .check(z.meta({ format: "date-time", examples: ["2026-11-21T09:30:00.000Z"] }));

/** Such as "email, slack, or webhook". */
export const anyOf = (values: Iterable<unknown>): string =>
  new Intl.ListFormat("en", { type: "disjunction" }).format([...values].map(String));
