import * as z from "zod";

/** Plain decimal integers of query and path: no sign, no exponent, no leading zero, below 2^53. */
const decimal = (name: string) =>
  z
    .string()
    .regex(/^(0|[1-9]\d{0,15})$/, `${name} must be a plain decimal integer`)
    .transform(Number)
    .refine(Number.isSafeInteger, `${name} is too large`);

export const idParameter = (name: string) =>
  decimal(name).refine((id) => id > 0, `${name} must be a positive integer`);

export const booleanParameter = (name: string) =>
  z.enum(["true", "false"], `${name} must be true or false`).transform((value) => value === "true");

/** interface.md "Endpoints": `limit` 1-100, default 50; `offset` default 0. */
export const pageQuery = {
  limit: decimal("limit")
    .refine((limit) => limit >= 1 && limit <= 100, "limit must be between 1 and 100")
    .default(50),
  offset: decimal("offset").default(0),
};

/** An id in a JSON body: a number, never a string. */
export const idField = z.int().positive();
