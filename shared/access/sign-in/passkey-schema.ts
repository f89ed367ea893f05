/** What browsers send of passkeys, in the JSON forms of WebAuthn Level 3, 5.1. What is not listed is not looked at. */
import * as z from "zod/mini";

/** At least 16 bytes, and at most 1,023. */
export const passkeyId = z
  .string()
  .check(z.regex(/^[\w-]{22,1364}$/, "must be an id of 22 to 1364 letters, digits, hyphens and underscores"));

/** Bytes in base64url. */
const bytes = (maximum: number) => z.string().check(z.regex(/^[\w-]+$/), z.maxLength(maximum));

const credential = { id: passkeyId, rawId: passkeyId, type: z.literal("public-key") };

/** `RegistrationResponseJSON` */
export const newPasskey = z.object({
  ...credential,
  response: z.object({ clientDataJSON: bytes(8_000), attestationObject: bytes(40_000) }),
});
export type NewPasskey = z.infer<typeof newPasskey>;

/** `AuthenticationResponseJSON` */
export const passkeyAnswer = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: bytes(8_000),
    authenticatorData: bytes(4_000),
    signature: bytes(8_000),
    userHandle: z.optional(z.string().check(z.maxLength(100))),
  }),
});
export type PasskeyAnswer = z.infer<typeof passkeyAnswer>;

/** Of a ceremony, for the browser's `parseCreationOptionsFromJSON` or `parseRequestOptionsFromJSON`. */
export const passkeyOptions = z
  .record(z.string(), z.unknown())
  .check(z.meta({ description: "As the browser's `PublicKeyCredential` parses it from JSON" }));
