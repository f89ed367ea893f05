import { consume } from "../../shared/queue/consume.ts";
import * as mails from "../../shared/sign-in/mail.ts";

export const handler = consume("sign-in-mails", ({ mailId }) => mails.deliver(mailId));
