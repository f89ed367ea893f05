import { defineQueueWorker } from "../../shared/contract/worker.ts";

export const mailSignInLink = defineQueueWorker({
  queue: "sign-in-mails",
  impact:
    "Who asks for a sign-in link, is invited, or gets a passkey is told nothing by e-mail; the operator can make a link",
  // The limits of requests for links keep the messages few.
  needsSender: true,
  timeoutSeconds: 20,
  uses: ["table:read", "table:write", "table:write:identities", "email"],
});
