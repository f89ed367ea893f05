/** The worker of notices. */
import { send } from "../../aws/mail/mail.ts";
import { isMailSetUp } from "../../aws/mail/setting.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as users from "../members/user.ts";
import * as organizations from "../organizations/organization.ts";
import { isLate } from "../sign-in/mail-row.ts";
import type { NoticeMail } from "./notice.ts";
import { noticeMessage } from "./words.ts";

const sendTimeoutMilliseconds = 10_000;

/** Sends a notice and deletes its row. It can go out twice. Throws when it could not be sent. */
export const deliver = async (mailId: string): Promise<void> => {
  const key = keys.notice(mailId);
  const mail = await table.get<NoticeMail>(key);
  if (mail === undefined) return;
  const organization = await organizations.get(mail.organizationId);
  const isWanted = !isLate(mail, new Date()) && isMailSetUp() && (await concerns(mail));
  if (!isWanted || organization === undefined || organization.deleting === true) return table.remove(key);
  const message = noticeMessage(process.env.DASHBOARD_URL ?? "", organization.name, mail.notice);
  const sent = await send({ recipient: mail.email, ...message }, sendTimeoutMilliseconds);
  if ("failure" in sent) throw new Error(`A notice could not be sent: ${sent.failure}`);
  await table.remove(key);
};

/**
 * A passkey ends with its user. What else was done concerns admins who were removed since too: whoever did it
 * may have removed them.
 */
const concerns = async ({ notice, organizationId, userId }: NoticeMail): Promise<boolean> =>
  notice.about !== "passkey" || (await users.get(organizationId, userId))?.removed === false;
