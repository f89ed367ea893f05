/**
 * How many copies of alerts an organization sends by e-mail. All organizations share the deployment's sender.
 * One organization's mail to strangers must not ruin the sender's reputation for all.
 */
import type { Organization } from "../../../access/organizations/organization.ts";
import { allOf, condition, exists } from "../../../aws/table/condition.ts";
import { keys, timeToLive } from "../../../aws/table/keys.ts";
import * as table from "../../../aws/table/table.ts";

/** Copies in a UTC hour and in a UTC day. A message to three recipients is three copies. */
type MailBudget = NonNullable<Organization["mailBudget"]>;

export const defaultMailBudget: MailBudget = { hour: 500, day: 2_000 };

const hourSeconds = 3_600;
const daySeconds = 24 * hourSeconds;

/**
 * `isCaused`: everybody with a session or a key can cause it, such as tests of channels and notices. It has
 * half of the budget at most, so that the other half is left to alerts of breaches.
 */
type Purpose = { isCaused?: boolean };

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

/** The attributes that count copies for this purpose, each with the part of the budget that it counts. */
const countersOf = (hour: string, { isCaused = false }: Purpose) => [
  { name: "day", of: "day", part: 1 } as const,
  { name: hour, of: "hour", part: 1 } as const,
  ...(isCaused
    ? [
        { name: "causedDay", of: "day", part: 1 / 2 } as const,
        { name: `${hour}Caused`, of: "hour", part: 1 / 2 } as const,
      ]
    : []),
];

/**
 * Takes copies out of the budget. Undefined when they may be sent, otherwise the end of the hour or day that
 * is used up. The first message of an hour or day fits whatever its size, unless the budget is 0. Copies are
 * taken before they are sent, so that a crash may count too many and never too few. One write unit.
 */
export const takeCopies = async (
  org: number,
  copies: number,
  budget: MailBudget,
  now: Date,
  purpose: Purpose = {},
): Promise<Date | undefined> => {
  if (copies === 0) return undefined;
  const { key, hour, hourEnd, dayEnd } = windowsAt(org, now);
  if (budget.day === 0) return dayEnd;
  if (budget.hour === 0) return hourEnd;
  const counters = countersOf(hour, purpose).map(({ name, of, part }) => ({
    name,
    of,
    most: Math.max(0, Math.floor(part * budget[of]) - copies),
  }));
  const taken = await table.attempt(
    table.update(key, {
      add: Object.fromEntries(counters.map(({ name }) => [name, copies])),
      setOnce: { [timeToLive]: dayEnd.getTime() / 1_000 + daySeconds },
      if: allOf(
        ...counters.map(({ name, most }) =>
          condition(`attribute_not_exists(#${name}) OR #${name} <= :${name}`, { [name]: most }),
        ),
      ),
    }),
  );
  if (taken.written) return undefined;
  const row = taken.failed[0]?.item ?? {};
  const isDayOver = counters.some(({ name, of, most }) => of === "day" && Number(row[name] ?? 0) > most);
  return isDayOver ? dayEnd : hourEnd;
};

/** Gives copies back that were taken at this time and not sent. A transaction, which recognizes its own tries. */
export const giveBackCopies = async (
  org: number,
  copies: number,
  takenAt: Date,
  purpose: Purpose = {},
): Promise<void> => {
  if (copies === 0) return;
  const { key, hour } = windowsAt(org, takenAt);
  const add = Object.fromEntries(countersOf(hour, purpose).map(({ name }) => [name, -copies]));
  await table.attempt(table.transact([{ update: key, add, if: exists }]));
};
