/**
 * Rows of mails that are still to be sent, each of a transaction with what it tells of. A message wakes the worker that sends it, and a due
 * row lets the sweep send a lost message again.
 */
import { randomInt, randomUUID } from "node:crypto";
import { isMailSetUp } from "../../aws/mail/setting.ts";
import * as queue from "../../aws/queue/queue.ts";
import { absent, condition, type Write } from "../../aws/table/condition.ts";
import { dueShard, type Key, keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";

/** With links, which few functions may write; or notices, which hold no secret. */
type MailKind = "signInMail" | "notice";

export type MailRow = {
  dueShard: string;
  dueAt: string;
  /** Epoch seconds. After it nothing is sent any more. */
  expiresAt: number;
};

/** By when a message has done its work or was lost. */
const againAfterSeconds = 5 * 60;

const secondsFrom = (now: Date, seconds: number): string =>
  new Date(now.getTime() + seconds * 1000).toISOString();

const messageOf = (kind: MailKind, mailId: string) =>
  kind === "notice" ? { mailId, isNotice: true as const } : { mailId };

/** A mail that is to be sent: the write of its row, and its message, for after the row is written. */
export type Prepared = { write: Write; send: () => Promise<void> };

export const prepare = (kind: MailKind, content: object, triedSeconds: number): Prepared => {
  const id = randomUUID();
  const now = new Date();
  const row: MailRow = {
    ...content,
    dueShard: dueShard("SIGN-IN-MAIL", randomInt(1_000)),
    // The command line sends no message, and leaves its notices to the next sweep.
    dueAt: secondsFrom(now, kind === "notice" ? 0 : againAfterSeconds),
    [timeToLive]: Math.floor(now.getTime() / 1000) + triedSeconds,
  };
  return {
    write: { put: { ...keys[kind](id), ...row }, if: absent },
    // If the queue does not take it, the sweep sends it.
    send: () => queue.send("sign-in-mails", messageOf(kind, id)).catch(() => {}),
  };
};

/** Whether a mail is no longer sent. */
export const isLate = ({ expiresAt }: MailRow, now: Date): boolean => expiresAt * 1000 <= now.getTime();

/** Sends the message of a due mail again, and deletes the row of one that is too late. */
export const sendAgain = async (key: Key, now: Date): Promise<void> => {
  const mail = await table.get<MailRow>(key);
  if (mail === undefined) return;
  if (isLate(mail, now) || !isMailSetUp()) return table.remove(key);
  if (!(await putOff(key, mail, new Date(now.getTime() + againAfterSeconds * 1000)))) return;
  const kind = key.pk.startsWith(keys.notice("").pk) ? "notice" : "signInMail";
  await queue.send("sign-in-mails", messageOf(kind, key.pk.slice(keys[kind]("").pk.length)));
};

/** Lets the sweep send the message again at this time. False: the mail has been sent or put off since it was read. */
const putOff = async (key: Key, { dueAt }: MailRow, time: Date): Promise<boolean> => {
  const update = { set: { dueAt: time.toISOString() }, if: condition("#dueAt = :dueAt", { dueAt }) };
  return (await table.attempt(table.update(key, update))).written;
};
