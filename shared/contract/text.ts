import * as z from "zod/mini";

// The OpenAPI document holds these patterns, and not every reader of it supports \p{Cc}.
// biome-ignore-start lint/suspicious/noControlCharactersInRegex: see above
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
const nonBlank = (maximum: number) => text(maximum).check(z.trim(), z.minLength(1));

/** Of scripts that are written without joiners. */
const unjoined = "[\\0-\\x7f\\p{sc=Latn}\\p{sc=Grek}\\p{sc=Cyrl}]";
const joiners = "[\\u200c\\u200d]";
const variations = "[\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}]";

/**
 * Characters that nobody sees: those of format or ignorable in Unicode, separators of lines and paragraphs,
 * and Braille's empty pattern. Joiners stay within Persian, Indic scripts and emoji, which are written with
 * them. Selectors of variations stay behind emoji and Chinese characters.
 */
export const unseen = new RegExp(
  [
    `${joiners}(?=${unjoined}|$)`,
    `${joiners}(?<=(?:${unjoined}|^)${joiners})`,
    `${variations}(?<=(?:[A-Za-z\\s]|^)${variations})`,
    `(?!${joiners}|${variations})[\\p{Cf}\\p{DI}\\p{Zl}\\p{Zp}\\u2800]`,
  ].join("|"),
  "gu",
);

const fullStop = "[.\\uff0e\\u3002\\uff61]";

/**
 * What programs make a link of. The name of a domain alone stays, because companies are called so (aws/mail/quoted.ts).
 */
const link = new RegExp(
  [
    "[a-z\\d+.-]://",
    "\\bmailto:",
    `\\bwww${fullStop}`,
    `(?:[\\p{L}\\p{N}]${fullStop}(?:\\p{L}{2,63}|xn--[a-z\\d-]{1,59})|\\d(?:\\.\\d{1,3}){3})[/:?#]\\S`,
  ].join("|"),
  "iu",
);

/** Others read it: names, also in mails to strangers, and comments. */
export const isSeen = z.refine<string>(
  (words) => words.search(unseen) < 0,
  "must not contain invisible characters",
);
const hasNoLink = z.refine<string>((name) => !link.test(name), "must not contain a link");

/** The name of an organization, a person, a team, a channel or an API key. */
export const nameOf = (maximum: number) => nonBlank(maximum).check(isSeen, hasNoLink);

/**
 * The name of an owner, or an empty text. Directories and files bring it, so that it may hold a link
 * (aws/mail/quoted.ts).
 */
export const ownersName = (maximum: number) => text(maximum).check(z.trim(), isSeen);

/** A text of a reply, and what it looks like in the OpenAPI document. */
export const textSuchAs = (example: string) => z.string().check(z.meta({ examples: [example] }));

/** A time in replies: ISO 8601 in UTC with milliseconds. */
export const timestamp = z
  .string()
  .check(z.meta({ format: "date-time", examples: ["2026-11-21T09:30:00.000Z"] }));

/**
 * A time in requests, with any offset: given as every stored time is, so that times compare as strings. In UTC
 * its year has four digits too, which an offset can change.
 */
export const time = z.pipe(
  z.pipe(
    z.iso.datetime({ offset: true, error: "must be an ISO 8601 time such as 2026-11-21T09:30:00.000Z" }),
    z.transform((given: string) => new Date(given).toISOString()),
  ),
  z.string().check(
    z.refine((inUtc) => /^\d{4}-/.test(inUtc), "must be of the years 0000 to 9999 in UTC"),
    z.meta({ format: "date-time" }),
  ),
);

/** Such as `(team Finance, enabled) `, for the middle of a sentence. Nothing without words; `false` is no word. */
export const inBrackets = (words: readonly (string | false)[]): string => {
  const said = words.filter((each) => each !== false);
  return said.length === 0 ? "" : `(${said.join(", ")}) `;
};

/** Such as "email, slack, or webhook". */
export const anyOf = (values: Iterable<unknown>): string =>
  new Intl.ListFormat("en", { type: "disjunction" }).format([...values].map(String));
