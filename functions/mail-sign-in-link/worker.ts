import { defineQueueWorker } from "../../shared/contract/worker.ts";

export const mailSignInLink = defineQueueWorker({
  queue: "sign-in-mails",
  impact:
    "Who asks for a sign-in link or is invited gets no e-mail, and nobody is told of new " +
    "passkeys, API keys, admins and channels; the operator can make a link",
  // The limits of requests for links, and of what notices tell, keep the messages few.
  needsSender: true,
  timeoutSeconds: 20,
  uses: ["table:read", "table:write", "table:write:identities", "email"],
});
