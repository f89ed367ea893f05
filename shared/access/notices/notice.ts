/**
 * Mails about changes by which somebody could take over an account or organization, or send its alerts
 * elsewhere. Each is a row of the transaction of the change. They count against no budget of mails: whoever
 * makes the change could use it up before. The number of changes is limited instead (contract/limits.ts).
 */
import { isMailSetUp } from "../../aws/mail/setting.ts";
import type { Write } from "../../aws/table/condition.ts";
import type { Terms } from "../keys/api-key.ts";
import * as users from "../members/user.ts";
import { type MailRow, type Prepared, prepare } from "../sign-in/mail-row.ts";

/** `createdAt`, `browser`: when and where a passkey was added. `by`: who did it, as the activity log names them. */
export type Notice =
  | ({ about: "passkey"; change: "added" | "removed" } & Pick<users.Passkey, "createdAt" | "browser">)
  | ({ about: "api_key"; label: string; by: string } & Terms)
  /** `change`: they became one, or are none any more. */
  | { about: "admin"; change: "added" | "removed"; email: string; by: string }
  /** `what`: a sentence, without what the channel sends to. */
  | { about: "channel"; what: string; by: string };

export type NoticeMail = MailRow & { notice: Notice; email: string; organizationId: number; userId: number };

/** Outlasts a day on which SES takes no mail. */
const triedSeconds = 48 * 60 * 60;

/**
 * Mails that tell users what was done. `writes` prepares them for the transaction of the deed, again for each
 * try; `send` sends their messages after it. None where no e-mail is sent.
 */
export const newNotices = (org: number, recipients: readonly { id: number; email: string }[]) => {
  let mails: Prepared[] = [];
  const writes = (notice: Notice): Write[] => {
    mails = recipients.map(({ id, email }) =>
      prepare("notice", { notice, email, organizationId: org, userId: id }, triedSeconds),
    );
    return mails.map(({ write }) => write);
  };
  const send = async (): Promise<void> => {
    await Promise.all(mails.map((mail) => mail.send()));
  };
  return { writes: isMailSetUp() ? writes : () => [], send };
};

/** As many admins of an organization are told as fit into the transaction of the deed. */
const maximumAdmins = 50;

/** The same to the admins of an organization, those who have been it longest first. */
export const newNoticesToAdmins = async (org: number) => {
  const admins = (await users.list(org)).filter(({ role }) => role === "admin").reverse();
  return newNotices(org, admins.slice(0, maximumAdmins));
};
