/**
 * Requests for mails with links. Whoever asks for a link learns nothing of the address. Every request writes
 * one row and sends one message. A worker looks up later whether somebody has the address (mail.ts).
 */
import { isMailSetUp } from "../../aws/mail/setting.ts";
import type { Write } from "../../aws/table/condition.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import * as limits from "../api/limits.ts";
import type { Bearer } from "./link.ts";
import { type MailRow, type Prepared, prepare as prepareRow } from "./mail-row.ts";

/** `invitedBy`: who invites, as the mail names them. */
type Content = Bearer & ({ kind: "link" } | { kind: "invitation"; invitedBy: string });

export type Mail = Content & MailRow;

/** How long a mail is tried: nobody waits longer for a link, and an invitation can be repeated. */
const triedSeconds = { link: 15 * 60, invitation: 24 * 60 * 60 } as const;

const prepare = (mail: Content): Prepared => prepareRow("signInMail", mail, triedSeconds[mail.kind]);

/**
 * The mail that invites a user. `write` prepares it for a transaction, again for each try; undefined where no
 * e-mail is sent. `send` sends its message after the transaction, and gives whether there is one.
 */
export const newInvitation = (org: number, invitedBy: string) => {
  let mail: Prepared | undefined;
  const write = ({ id, email }: { id: number; email: string }): Write => {
    mail = prepare({ kind: "invitation", email, organizationId: org, userId: id, invitedBy });
    return mail.write;
  };
  const send = async (): Promise<boolean> => {
    await mail?.send();
    return mail !== undefined;
  };
  return { write: isMailSetUp() ? write : undefined, send };
};

/**
 * Sees to it that a link is mailed if somebody has the address. What it does, and so how long it takes, does not
 * depend on that. Refuses `signInLimit`.
 */
export const requestLink = async (email: string): Promise<void> => {
  const { refusedSeconds } = await limits.countSignInLink(email, new Date());
  if (refusedSeconds > 0)
    throw new Refusal("signInLimit", { headers: { "Retry-After": String(refusedSeconds) } });
  const mail = prepare({ kind: "link", email });
  await table.transact([mail.write]);
  await mail.send();
};
