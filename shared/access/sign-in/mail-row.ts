/**
 * Rows of mails that are still to be sent, each of a transaction with what it tells of. A message wakes
 * the worker that sends it, and a due row lets the sweep send a lost message again.
 */
import { randomInt, randomUUID } from "node:crypto";
import { isMailSetUp } from "../../aws/mail/setting.ts";
import { type Job, newJob, type Sweep, sweepJob } from "../../aws/queue/job.ts";
import * as queue from "../../aws/queue/queue.ts";
import { absent, type Write } from "../../aws/table/condition.ts";
import { type Key, keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";

/** With links, which few functions may write; or notices, which hold no secret. */
type MailKind = "signInMail" | "notice";

export type MailRow = Job & {
  /** Epoch seconds. After it nothing is sent any more. */
  expiresAt: number;
};

const messageOf = (kind: MailKind, mailId: string) =>
  kind === "notice" ? { mailId, isNotice: true as const } : { mailId };

/** A mail that is to be sent: the write of its row, and its message, for after the row is written. */
export type Prepared = { write: Write; send: () => Promise<void> };

export const prepare = (kind: MailKind, content: object, triedSeconds: number): Prepared => {
  const id = randomUUID();
  const row: MailRow = {
    ...content,
    ...newJob("SIGN-IN-MAIL", randomInt(1_000)),
    [timeToLive]: Math.floor(Date.now() / 1000) + triedSeconds,
  };
  return {
    write: { put: { ...keys[kind](id), ...row }, if: absent },
    // If the queue does not take it, the sweep sends it.
    send: () => queue.send("sign-in-mails", messageOf(kind, id)).catch(() => {}),
  };
};

/** Whether a mail is no longer sent. */
export const isLate = ({ expiresAt }: MailRow, now: Date): boolean => expiresAt * 1000 <= now.getTime();

/** Sends the message of a mail again, and deletes the row of one that is too late. */
export const sweepMail = async (key: Key, sweep: Sweep): Promise<void> => {
  const mail = await table.get<MailRow>(key);
  if (mail === undefined) return;
  if (isLate(mail, sweep.now) || !isMailSetUp()) return table.remove(key);
  const kind = key.pk.startsWith(keys.notice("").pk) ? "notice" : "signInMail";
  const message = messageOf(kind, key.pk.slice(keys[kind]("").pk.length));
  await sweepJob(key, mail, { wake: () => queue.send("sign-in-mails", message) }, sweep);
};
