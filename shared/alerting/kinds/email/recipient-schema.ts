import * as z from "zod/mini";

/** The token of a recipient's link: `<organization>.<fingerprint of the address>.<secret>`. */
export const tokenPattern = /^([1-9]\d{0,15})\.([\w-]{22})\.([\w-]{22})$/;

export const recipientToken = z.string().check(z.regex(tokenPattern, "is not the token of a link"));

export const recipientView = z
  .object({
    email: z.string(),
    organization: z.object({ name: z.string() }),
    consent: z.nullable(z.enum(["given", "refused"])).check(
      z.meta({
        description:
          "`given` after confirming, `refused` after unsubscribing, null before either. With " +
          "null, alerts go out unless the deployment wants recipients to confirm",
      }),
    ),
  })
  .check(z.meta({ id: "Recipient" }));
