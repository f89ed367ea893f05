/**
 * How many copies of alerts an organization sends by e-mail. All organizations share the deployment's sender,
 * and none of them may have its reputation ruined by another one's mail to strangers.
 */
import { condition } from "../table/condition.ts";
import { keys, timeToLive } from "../table/keys.ts";
import * as table from "../table/table.ts";

/** Copies in a UTC hour and in a UTC day. A message to three recipients is three copies. */
export type MailBudget = { hour: number; day: number };

export const defaultMailBudget: MailBudget = { hour: 500, day: 2_000 };

const windowSeconds: Readonly<Record<keyof MailBudget, number>> = { hour: 3_600, day: 86_400 };

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
  // The hour first: what waits for the next day then takes nothing out of a day's budget.
  for (const name of ["hour", "day"] as const) {
    const seconds = windowSeconds[name];
    const start = Math.floor(now.getTime() / 1_000 / seconds) * seconds;
    const end = new Date((start + seconds) * 1_000);
    if (budget[name] === 0) return end;
    const { written } = await table.attempt(
      table.update(keys.limit(`ORG#${org}#MAILS#${name.toUpperCase()}`, String(start)), {
        add: { copies },
        setOnce: { [timeToLive]: start + 2 * seconds },
        if: condition("attribute_not_exists(#copies) OR #copies <= :most", { most: budget[name] - copies }),
      }),
    );
    if (!written) return end;
  }
  return undefined;
};
