/**
 * How many copies of alerts an organization sends by e-mail. All organizations share the deployment's sender,
 * and none of them may have its reputation ruined by another one's mail to strangers.
 */
import { condition, exists } from "../table/condition.ts";
import { keys, timeToLive } from "../table/keys.ts";
import * as table from "../table/table.ts";

/** Copies in a UTC hour and in a UTC day. A message to three recipients is three copies. */
export type MailBudget = { hour: number; day: number };

export const defaultMailBudget: MailBudget = { hour: 500, day: 2_000 };

const hourSeconds = 3_600;
const daySeconds = 24 * hourSeconds;

/** The row that counts a day, the attribute of it that counts the hour, and when both end. */
const windowsAt = (org: number, time: Date) => {
  const seconds = Math.floor(time.getTime() / 1_000);
  const dayStart = seconds - (seconds % daySeconds);
  const hour = Math.floor((seconds % daySeconds) / hourSeconds);
  return {
    key: keys.limit(`ORG#${org}#MAILS`, String(dayStart)),
    hour: `hour${hour}`,
    hourEnd: new Date((dayStart + (hour + 1) * hourSeconds) * 1_000),
    dayEnd: new Date((dayStart + daySeconds) * 1_000),
  };
};

/**
 * Takes copies out of the budget. Undefined when they may be sent, otherwise the end of the hour or day that
 * is used up. The first message of an hour or day fits whatever its size, unless the budget is 0. Copies are taken before they are sent, so that
 * a crash may count too many and never too few. One write unit.
 */
export const takeCopies = async (
  org: number,
  copies: number,
  budget: MailBudget,
  now: Date,
): Promise<Date | undefined> => {
  if (copies === 0) return undefined;
  const { key, hour, hourEnd, dayEnd } = windowsAt(org, now);
  if (budget.day === 0) return dayEnd;
  if (budget.hour === 0) return hourEnd;
  const most = { day: Math.max(0, budget.day - copies), hour: Math.max(0, budget.hour - copies) };
  const taken = await table.attempt(
    table.update(key, {
      add: { day: copies, [hour]: copies },
      setOnce: { [timeToLive]: dayEnd.getTime() / 1_000 + daySeconds },
      if: condition(
        `(attribute_not_exists(#day) OR #day <= :day) AND (attribute_not_exists(#${hour}) OR #${hour} <= :hour)`,
        most,
      ),
    }),
  );
  if (taken.written) return undefined;
  return Number(taken.failed[0]?.item?.day ?? 0) > most.day ? dayEnd : hourEnd;
};

/** Gives copies back that were taken at this time and not sent. A transaction, which recognizes its own tries. */
export const giveBackCopies = async (org: number, copies: number, takenAt: Date): Promise<void> => {
  if (copies === 0) return;
  const { key, hour } = windowsAt(org, takenAt);
  await table.attempt(table.transact([{ update: key, add: { day: -copies, [hour]: -copies }, if: exists }]));
};
