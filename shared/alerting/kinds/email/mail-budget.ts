/**
 * How many copies of alerts an organization sends by e-mail. All organizations share the deployment's sender.
 * One organization's mail to strangers must not ruin the sender's reputation for all. docs/alerts.md has the table.
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

/** What copies are for. Those with `isForOwner` have half of the budget at most, and so have those with `isCaused`. */
type Purpose = {
  /** They go to the owner of an address. */
  isForOwner?: boolean;
  /** Everybody with a session or a key can cause them, such as tests of channels and notices. */
  isCaused?: boolean;
  /** They tell a channel of a breach of high severity or above. */
  isUrgent?: boolean;
  /** They are about a single address. */
  isSingle?: boolean;
  /** `bookHour` has counted them for the owner before. */
  isBooked?: boolean;
};

/**
 * A message goes out while no more than so many tenths of the budget are used, by whatever messages. So critical and
 * high messages to channels still find room when others do not. Messages about many people go before those about one.
 */
const tenthsFor = ({ isUrgent = false, isSingle = false, isForOwner = false }: Purpose): number =>
  (isUrgent ? 10 : 8) - (isSingle || isForOwner ? 1 : 0);

/** The row that counts a day, the attribute of it that counts the hour, and when both end. */
const windowsAt = (org: number, time: Date) => {
  const seconds = Math.floor(time.getTime() / 1_000);
  const dayStart = seconds - (seconds % daySeconds);
  const hour = Math.floor((seconds % daySeconds) / hourSeconds);
  return {
    key: keys.limit(`ORG#${org}#MAILS`, String(dayStart)),
    dayStart: dayStart * 1_000,
    hourOfDay: hour,
    hour: `hour${hour}`,
    hourEnd: new Date((dayStart + (hour + 1) * hourSeconds) * 1_000),
    dayEnd: new Date((dayStart + daySeconds) * 1_000),
  };
};

type Windows = ReturnType<typeof windowsAt>;

const tenthsOfHalf = 5;

/** The attributes that count copies for this purpose. Each has room up to so many tenths of its hour or day. */
const countersOf = (hour: string, purpose: Purpose) => {
  const { isForOwner, isBooked, isCaused } = purpose;
  const tenths = tenthsFor(purpose);
  return [
    { name: "day", of: "day", tenths } as const,
    { name: hour, of: "hour", tenths } as const,
    ...(isForOwner && !isBooked ? ownersCounters(hour) : []),
    ...(isCaused
      ? [
          { name: "causedDay", of: "day", tenths: tenthsOfHalf } as const,
          { name: `${hour}Caused`, of: "hour", tenths: tenthsOfHalf } as const,
        ]
      : []),
  ];
};

const ownersCounters = (hour: string) => [
  { name: "ownersDay", of: "day", tenths: tenthsOfHalf } as const,
  { name: `${hour}Owners`, of: "hour", tenths: tenthsOfHalf } as const,
];

type Counter = ReturnType<typeof countersOf>[number];

/** The highest count with which so many more copies fit. The first of an hour or day fit whatever their number. */
const mostBefore = (copies: number, { of, tenths }: Counter, budget: MailBudget): number =>
  Math.max(0, Math.floor((tenths * budget[of]) / 10) - copies);

/** Counts copies if all counters have room. Otherwise counts none, and gives the row. One write unit. */
const count = async (
  { key, dayEnd }: Pick<Windows, "key" | "dayEnd">,
  counters: readonly Counter[],
  copies: number,
  budget: MailBudget,
): Promise<Record<string, unknown> | undefined> => {
  const taken = await table.attempt(
    table.update(key, {
      add: Object.fromEntries(counters.map(({ name }) => [name, copies])),
      setOnce: { [timeToLive]: dayEnd.getTime() / 1_000 + daySeconds },
      if: allOf(
        ...counters.map((counter) =>
          condition(`attribute_not_exists(#${counter.name}) OR #${counter.name} <= :${counter.name}`, {
            [counter.name]: mostBefore(copies, counter, budget),
          }),
        ),
      ),
    }),
  );
  return taken.written ? undefined : (taken.failed[0]?.item ?? {});
};

const hasRoom = (
  row: Record<string, unknown>,
  counter: Counter,
  copies: number,
  budget: MailBudget,
): boolean => Number(row[counter.name] ?? 0) <= mostBefore(copies, counter, budget);

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
  const windows = windowsAt(org, now);
  const { hour, hourEnd, dayEnd } = windows;
  if (budget.day === 0) return dayEnd;
  if (budget.hour === 0) return hourEnd;
  const counters = countersOf(hour, purpose);
  const row = await count(windows, counters, copies, budget);
  if (row === undefined) return undefined;
  const isDayOver = counters.some((each) => each.of === "day" && !hasRoom(row, each, copies, budget));
  return isDayOver ? dayEnd : hourEnd;
};

/** Hours are booked until the end of so many days after today. */
const daysBooked = 7;

const daysFrom = (org: number, now: Date): Windows[] =>
  Array.from({ length: daysBooked + 1 }, (_, day) =>
    windowsAt(org, new Date(now.getTime() + day * daySeconds * 1_000)),
  );

const beginOf = ({ dayStart }: Windows, hourOfDay: number): Date =>
  new Date(dayStart + hourOfDay * hourSeconds * 1_000);

/** The first hour of a day, from `first` on, in which copies to owners have room. */
const freeHour = (
  row: Record<string, unknown>,
  first: number,
  copies: number,
  budget: MailBudget,
): number | undefined => {
  for (let hourOfDay = first; hourOfDay < 24; hourOfDay++) {
    const counters = countersOf(`hour${hourOfDay}`, { isForOwner: true });
    if (counters.every((each) => hasRoom(row, each, copies, budget))) return hourOfDay;
  }
  return undefined;
};

/**
 * Books copies to owners in the next hour in which these have room, and gives its begin. So those who wait for
 * days know until when, and do not all try in each hour. `isBooked` is false if all these days are full: `from` is
 * their end. A crash may book too many and never too few.
 */
export const bookHour = async (
  org: number,
  copies: number,
  budget: MailBudget,
  now: Date,
): Promise<{ from: Date; isBooked: boolean }> => {
  const days = daysFrom(org, now);
  const rows = await table.getMany<Record<string, unknown>>(days.map(({ key }) => key));
  for (const [index, day] of days.entries()) {
    let row = rows[index] ?? {};
    let hourOfDay = freeHour(row, index === 0 ? day.hourOfDay + 1 : 0, copies, budget);
    while (hourOfDay !== undefined) {
      const full = await count(day, ownersCounters(`hour${hourOfDay}`), copies, budget);
      if (full === undefined) return { from: beginOf(day, hourOfDay), isBooked: true };
      // Others have booked the rest meanwhile.
      row = full;
      hourOfDay = freeHour(row, hourOfDay + 1, copies, budget);
    }
  }
  return { from: days.at(-1)?.dayEnd ?? now, isBooked: false };
};

/** Whether the hour that begins at `from` (ISO 8601) is under way. */
export const isHourOf = (from: string | undefined, now: Date): boolean =>
  from !== undefined && Math.floor((now.getTime() - Date.parse(from)) / 1_000 / hourSeconds) === 0;

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

/**
 * How many messages to owners go out now, and the begin of the next hour with room for others. Others may take copies
 * meanwhile. Writes nothing.
 */
export const leftForOwners = async (
  { id: org, mailBudget: budget = defaultMailBudget }: Pick<Organization, "id" | "mailBudget">,
  now: Date,
): Promise<{ left: number; until: Date }> => {
  const days = daysFrom(org, now);
  const rows = await table.getMany<Record<string, unknown>>(days.map(({ key }) => key));
  const { hour } = windowsAt(org, now);
  const counters = Math.min(budget.hour, budget.day) === 0 ? [] : countersOf(hour, { isForOwner: true });
  const left = counters.map(
    (counter) => mostBefore(1, counter, budget) + 1 - Number(rows[0]?.[counter.name] ?? 0),
  );
  const free = days.flatMap((day, index) => {
    const first = index === 0 ? day.hourOfDay + 1 : 0;
    const hourOfDay = freeHour(rows[index] ?? {}, first, 1, budget);
    return hourOfDay === undefined ? [] : [beginOf(day, hourOfDay)];
  });
  return {
    left: left.length === 0 ? 0 : Math.max(0, Math.min(...left)),
    until: free[0] ?? days.at(-1)?.dayEnd ?? now,
  };
};
