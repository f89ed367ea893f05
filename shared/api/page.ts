import * as z from "zod";

/** Plain decimal integers of query and path: no sign, no exponent, no leading zero, below 2^53. */
const decimal = (name: string) =>
  z
    .string()
    .regex(/^(0|[1-9]\d{0,15})$/, `${name} must be a plain decimal integer`)
    .transform(Number)
    .pipe(z.int(`${name} is too large`));

export const idParameter = (name: string) =>
  decimal(name).pipe(z.int().min(1, `${name} must be a positive integer`));

export const booleanParameter = (name: string) =>
  z
    .enum(["true", "false"], `${name} must be true or false`)
    .transform((value) => value === "true")
    .pipe(z.boolean());

const limit = decimal("limit")
  .pipe(z.int().min(1, "limit must be between 1 and 100").max(100, "limit must be between 1 and 100"))
  .default(50)
  .meta({ description: "At most so many entries" });

const offset = decimal("offset")
  .pipe(z.int().min(0))
  .default(0)
  .meta({ description: "How many entries to skip; past the end the page is empty and the total right" });

/** interface.md "Endpoints": `limit` 1-100, default 50; `offset` default 0. */
export const pageQuery = { limit, offset };

/** An id in a JSON body: a number, never a string. */
export const idField = z.int().min(1);

/** How many of something there are. */
export const count = z.int().min(0);

/** The filtered total of a list, whatever its page. */
export const total = count.meta({ description: "All entries that match the filters, on every page" });
