import * as z from "zod/mini";

/** In characters. */
const maximumUrlLength = 2048;

/** The url of an HTTP receiver. Whether it is public is checked in channels/configure.ts. */
export const publicUrl = z.string().check(
  z.minLength(1),
  z.maxLength(maximumUrlLength),
  z.meta({
    format: "uri",
    description: "Public HTTPS without credentials; never returned",
    examples: ["https://hooks.example.com/breaches"],
  }),
);
