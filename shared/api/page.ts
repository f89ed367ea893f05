import * as z from "zod/mini";

/** Plain decimal integers of query and path: no sign, no exponent, no leading zero, below 2^53. */
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

export const booleanParameter = (name: string) =>
  z.pipe(
    z.pipe(
      z.enum(["true", "false"], `${name} must be true or false`),
      z.transform((value) => value === "true"),
    ),
    z.boolean(),
  );

const limit = z
  ._default(
    z.pipe(
      decimal("limit"),
      z
        .int()
        .check(
          z.minimum(1, "limit must be between 1 and 100"),
          z.maximum(100, "limit must be between 1 and 100"),
        ),
    ),
    50,
  )
  .check(z.meta({ description: "At most so many entries" }));

const offset = z
  ._default(z.pipe(decimal("offset"), z.int().check(z.minimum(0))), 0)
  .check(
    z.meta({ description: "How many entries to skip; past the end the page is empty and the total right" }),
  );

/** interface.md "Endpoints": `limit` 1-100, default 50; `offset` default 0. */
export const pageQuery = { limit, offset };

/** An id in a JSON body: a number, never a string. */
export const idField = z.int().check(z.minimum(1));

/** How many of something there are. */
export const count = z.int().check(z.minimum(0));

/** The filtered total of a list, whatever its page. */
export const total = count.check(
  z.meta({ description: "All entries that match the filters, on every page" }),
);
