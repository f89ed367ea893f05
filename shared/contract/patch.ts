import * as z from "zod/mini";

/** For the body of a PATCH, whose fields are all optional: refuses a body that would change nothing. */
export const notEmpty = z.refine(
  (body) => Object.values(body as object).some((value) => value !== undefined),
  "Name at least one field to change",
);
