/**
 * Requests for mails about signing in: links, invitations, and notices. Whoever asks for a link learns nothing of the address:
 * a request writes one row and sends one message, whoever it is for, and a worker looks up later whether somebody has the address
 * (mail.ts). A due row sends the message again when it was lost.
 */
import { randomInt, randomUUID } from "node:crypto";
import { isMailSetUp } from "../../aws/mail/setting.ts";
import * as queue from "../../aws/queue/queue.ts";
import { absent, condition, type Write } from "../../aws/table/condition.ts";
import { dueShard, type Key, keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import * as limits from "../api/limits.ts";
import * as users from "../members/user.ts";
import type { Bearer } from "./link.ts";

/** What a mail is about. `invitedBy`: who invites, as the mail names them. */
type About =
  | { kind: "link" }
  | { kind: "invitation"; invitedBy: string }
  | { kind: "notice"; notice: Notice };

export type Mail = Bearer &
  About & {
    dueShard: string;
    dueAt: string;
    /** Epoch seconds. After it nothing is sent any more. */
    expiresAt: number;
  };

/**
 * What gives somebody power over an account or an organization, and could be done unseen by whoever took a session. `createdAt`,
 * `browser`: when and where a passkey was added. `by`: who did it, as the activity log names them.
 */
export type Notice =
  | ({ about: "passkey"; change: "added" | "removed" } & Pick<users.Passkey, "createdAt" | "browser">)
  | { about: "api_key"; label: string; by: string }
  | { about: "admin"; email: string; by: string };

/**
 * How long a mail is tried: nobody waits longer for a link, an invitation can be repeated, and a notice outlasts a
 * day on which SES takes no mail.
 */
const triedSeconds = { link: 15 * 60, invitation: 24 * 60 * 60, notice: 48 * 60 * 60 } as const;
/** By when a message has done its work or was lost. */
const againAfterSeconds = 5 * 60;

const secondsFrom = (now: Date, seconds: number): string =>
  new Date(now.getTime() + seconds * 1000).toISOString();

/** A mail that is to be sent: the write of its row, and its message, for after the row is written. */
export type Prepared = { write: Write; send: () => Promise<void> };

const prepare = (mail: Bearer & About): Prepared => {
  const id = randomUUID();
  const now = new Date();
  const row: Mail = {
    ...mail,
    dueShard: dueShard("SIGN-IN-MAIL", randomInt(1_000)),
    // The command line sends no message, and leaves its notices to the next sweep.
    dueAt: secondsFrom(now, mail.kind === "notice" ? 0 : againAfterSeconds),
    [timeToLive]: Math.floor(now.getTime() / 1000) + triedSeconds[mail.kind],
  };
  return {
    write: { put: { ...keys.signInMail(id), ...row }, if: absent },
    // If the queue does not take it, the sweep sends it.
    send: () => queue.send("sign-in-mails", { mailId: id }).catch(() => {}),
  };
};

/**
 * The mail that invites a user. `write` prepares it for a transaction, again for each try; undefined where no e-mail is sent. `send` sends
 * its message after the transaction, and gives whether there is one.
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
 * Mails that tell users what was done. `writes` prepares them for the transaction of the deed, again for each try; `send` sends their messages
 * after it. None where no e-mail is sent.
 */
export const newNotices = (org: number, recipients: readonly { id: number; email: string }[]) => {
  let mails: Prepared[] = [];
  const writes = (notice: Notice): Write[] => {
    mails = recipients.map(({ id, email }) =>
      prepare({ kind: "notice", email, organizationId: org, userId: id, notice }),
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

/** Whether a mail is no longer sent. */
export const isLate = ({ expiresAt }: Mail, now: Date): boolean => expiresAt * 1000 <= now.getTime();

/** Sends the message of a due mail again, and deletes the row of one that is too late. */
export const sendAgain = async (key: Key, now: Date): Promise<void> => {
  const mail = await table.get<Mail>(key);
  if (mail === undefined) return;
  if (isLate(mail, now)) return table.remove(key);
  const isMine = await putOff(key, mail, new Date(now.getTime() + againAfterSeconds * 1000));
  if (isMine) await queue.send("sign-in-mails", { mailId: mailIdOf(key) });
};

/** Lets the sweep send the message again at this time. False: the mail has been sent or put off since it was read. */
export const putOff = async (key: Key, { dueAt }: Mail, time: Date): Promise<boolean> => {
  const update = { set: { dueAt: time.toISOString() }, if: condition("#dueAt = :dueAt", { dueAt }) };
  return (await table.attempt(table.update(key, update))).written;
};

const mailIdOf = ({ pk }: Key): string => pk.slice(keys.signInMail("").pk.length);
