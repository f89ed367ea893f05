import * as z from "zod/mini";
import { passkey } from "../../shared/access/organizations/organization-schema.ts";
import { newPasskey } from "../../shared/access/sign-in/passkey-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";

export const addPasskey = defineEndpoint({
  summary: "Add a passkey of the user's own in this organization",
  description:
    "A user has at most 10, and gets an e-mail about each that is added or removed, if a sender of e-mail is set up.",
  access: "user",
  body: z.object({ answer: newPasskey }),
  malformed: { answer: "passkeyRefused" },
  status: 201,
  reply: passkey,
  refusals: ["passkeyLimitReached", "passkeysOfDay", "passkeyRefused", "attemptUnknown", "passkeyUnknown"],
  uses: ["table:read", "table:write", "table:write:identities", "queue:sign-in-mails"],
});
