import * as z from "zod/mini";

/** An integer of a query or path: decimal digits without sign, exponent or leading zero, below 2^53. */
const decimal = (name: string) =>
  z.pipe(
    z.pipe(
      z.string().check(z.regex(/^(0|[1-9]\d*)$/, `${name} must be a plain decimal integer`)),
      z.transform(Number),
    ),
    z.int(`${name} is too large`),
  );

export const idParameter = (name: string) =>
  z.pipe(decimal(name), z.int().check(z.minimum(1, `${name} must be a positive integer`)));

/** Path parameters of what has an id. */
export const byId = z.object({ id: idParameter("id") });

export const booleanParameter = (name: string) =>
  z.pipe(
    z.pipe(
      z.enum(["true", "false"], `${name} must be true or false`),
      z.transform((value) => value === "true"),
    ),
    z.boolean(),
  );

/** Some of these words, separated by commas. */
export const listParameter = <const Words extends readonly string[]>(name: string, words: Words) =>
  z.pipe(
    z.pipe(
      z.string(),
      z.transform((value: string) => value.split(",")),
    ),
    z
      .array(z.enum(words, `${name} must be one or several of ${words.join(", ")}, separated by commas`))
      .check(z.minLength(1)),
  );

export const limitTo = (maximum: number) => {
  const message = `limit must be between 1 and ${maximum}`;
  const limit = z.int().check(z.minimum(1, message), z.maximum(maximum, message));
  return z
    ._default(z.pipe(decimal("limit"), limit), maximum / 2)
    .check(z.meta({ description: "How many entries to return at most" }));
};

const offset = z
  ._default(z.pipe(decimal("offset"), z.int().check(z.minimum(0))), 0)
  .check(z.meta({ description: "How many entries to skip; beyond the last entry the page is empty" }));

/** Query parameters of every list with pages. */
export const pageQuery = { limit: limitTo(100), offset };

/** An id in a JSON body. Strings of digits are refused. */
export const idField = z.int().check(z.minimum(1));

export const count = z.int().check(z.minimum(0));

export const total = count.check(
  z.meta({ description: "How many entries match the filters, on all pages together" }),
);

/**
 * A page, by descending id, of rows that are read whole, such as an organization's teams; and how many there
 * are in all.
 */
export const pageOf = <T extends { id: number }>(
  rows: readonly T[],
  { limit, offset }: { limit: number; offset: number },
): { items: T[]; total: number } => ({
  items: rows.toSorted((one, other) => other.id - one.id).slice(offset, offset + limit),
  total: rows.length,
});
