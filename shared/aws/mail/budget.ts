/**
 * How many copies of alerts an organization sends by e-mail. All organizations share the deployment's sender,
 * and none of them may have its reputation ruined by another one's mail to strangers.
 */
import { condition, exists } from "../table/condition.ts";
import { type Key, keys, timeToLive } from "../table/keys.ts";
import * as table from "../table/table.ts";

/** Copies in a UTC hour and in a UTC day. A message to three recipients is three copies. */
export type MailBudget = { hour: number; day: number };

/** What a delivery waits for that the budget holds up. */
export const budgetUsedUp = "budget of e-mails is used up";

export const defaultMailBudget: MailBudget = { hour: 500, day: 2_000 };

const windowSeconds: Readonly<Record<keyof MailBudget, number>> = { hour: 3_600, day: 86_400 };

/** The row that counts an hour or a day, and when that begins, in epoch seconds. */
const windowAt = (org: number, name: keyof MailBudget, time: Date): { key: Key; start: number } => {
  const start = Math.floor(time.getTime() / 1_000 / windowSeconds[name]) * windowSeconds[name];
  return { key: keys.limit(`ORG#${org}#MAILS#${name.toUpperCase()}`, String(start)), start };
};

/**
 * Takes copies out of the budget. Undefined when they may be sent, otherwise the end of the hour or day that
 * is used up. The first message of an hour or day fits whatever its size, unless the budget is 0. Copies are taken before they are sent, so that
 * a crash may count too many and never too few. Two write units.
 */
export const takeCopies = async (
  org: number,
  copies: number,
  budget: MailBudget,
  now: Date,
): Promise<Date | undefined> => {
  if (copies === 0) return undefined;
  // The hour first: what waits for the next day then takes nothing out of a day's budget.
  for (const name of ["hour", "day"] as const) {
    const { key, start } = windowAt(org, name, now);
    const seconds = windowSeconds[name];
    const end = new Date((start + seconds) * 1_000);
    if (budget[name] === 0) return end;
    const { written } = await table.attempt(
      table.update(key, {
        add: { copies },
        setOnce: { [timeToLive]: start + 2 * seconds },
        if: condition("attribute_not_exists(#copies) OR #copies <= :most", {
          most: Math.max(0, budget[name] - copies),
        }),
      }),
    );
    if (written) continue;
    if (name === "day") await giveBackCopies(org, copies, now, ["hour"]);
    return end;
  }
  return undefined;
};

/** Gives copies back that were taken at this time and not sent. A transaction, which recognizes its own tries. */
export const giveBackCopies = async (
  org: number,
  copies: number,
  takenAt: Date,
  from: (keyof MailBudget)[] = ["hour", "day"],
): Promise<void> => {
  if (copies === 0) return;
  const writes = from.map((name) => ({
    update: windowAt(org, name, takenAt).key,
    add: { copies: -copies },
    if: exists,
  }));
  await table.attempt(table.transact(writes));
};
