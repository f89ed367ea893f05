import * as notices from "../../shared/access/notices/deliver.ts";
import * as mails from "../../shared/access/sign-in/mail.ts";
import { consume } from "../../shared/aws/queue/consume.ts";

export const handler = consume("sign-in-mails", ({ mailId, isNotice }) =>
  isNotice ? notices.deliver(mailId) : mails.deliver(mailId),
);
