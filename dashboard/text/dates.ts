/** Times in words: how long ago or until, and exactly when. */

/** In seconds. Weeks begin at two: of 10 days "1 week" says too little. */
const units = [
  { unit: "minute", length: 60, from: 60 },
  { unit: "hour", length: 3_600, from: 3_600 },
  { unit: "day", length: 86_400, from: 86_400 },
  { unit: "week", length: 7 * 86_400, from: 14 * 86_400 },
  { unit: "month", length: 30 * 86_400, from: 30 * 86_400 },
  { unit: "year", length: 365 * 86_400, from: 360 * 86_400 },
] as const;

type Rounded = { unit: (typeof units)[number]["unit"]; value: number };

/** In the largest unit that fits; undefined below a minute. */
function rounded(seconds: number): Rounded | undefined {
  let shown: Rounded | undefined;
  let length = 1;
  for (const { from, ...next } of units) {
    // What rounds to the next unit is shown in it: 59.7 minutes are an hour.
    if (Math.round(Math.abs(seconds) / length) * length < from) break;
    length = next.length;
    shown = { unit: next.unit, value: Math.round(seconds / length) };
  }
  return shown;
}

// Formatters take long to make, and a table shows hundreds of times.
const relativeFormat = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const toTheMinute = {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
} as const;
const exactFormat = new Intl.DateTimeFormat("en-GB", toTheMinute);
const secondFormat = new Intl.DateTimeFormat("en-GB", { ...toTheMinute, second: "2-digit" });

/** Clocks that agree within so much count as the same: what has just happened is never still to come. */
const toleranceSeconds = 3;

/** Such as "3 days ago", "in 2 hours", "just now", rounded. `now` and `time` are in Unix milliseconds. */
export function relativeTime(time: number, now: number): string {
  const seconds = Math.round((time - now) / 1000);
  const shown = rounded(seconds);
  if (shown === undefined) return seconds <= toleranceSeconds ? "just now" : "in less than a minute";
  return relativeFormat.format(shown.value, shown.unit);
}

/** Such as "3 days", rounded as `relativeTime` does. */
export function timePassed(since: number, now: number): string {
  const shown = rounded(Math.round((now - since) / 1000));
  if (shown === undefined) return "a moment";
  const { unit, value } = shown;
  return new Intl.NumberFormat("en", { style: "unit", unit, unitDisplay: "long" }).format(value);
}

/** Such as "29 Nov 2026, 14:02", in the reader's time zone. */
export const exactTime = (time: number): string => exactFormat.format(time);

/** Such as "29 Nov 2026, 14:02:09", in the reader's time zone. */
export const exactSecond = (time: number): string => secondFormat.format(time);

const inCalendar = (date: string, options: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" }).format(Date.parse(date));

/** Such as "November 2026" for "2026-11". */
export const monthName = (month: string): string => inCalendar(month, { month: "long", year: "numeric" });

/** Such as "Nov" for "2026-11". */
export const shortMonthName = (month: string): string => inCalendar(month, { month: "short" });

/** A calendar day such as "31 Jan 2026" for "2026-01-31". */
export const dayName = (day: string): string => inCalendar(day, { dateStyle: "medium" });

/** The instant at which a day such as "2026-01-31", or the day after it, begins for the reader; null: it is no day. */
export function beginOf(day: string, daysLater: 0 | 1 = 0): string | null {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? [];
  if (year === undefined) return null;
  const time = new Date(Number(year), Number(month) - 1, Number(date) + daysLater);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}

/** The day of a breach; null if it is not known, for which the service gives the first day of 1970. */
export const knownDay = (day: string): string | null => (day === "1970-01-01" ? null : day);

/** The day of a breach in words. */
export const breachDayName = (day: string): string =>
  knownDay(day) === null ? "on a day that is not known" : dayName(day);
