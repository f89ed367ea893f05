/** Times in words: how long ago or until, and exactly when. */

const units = [
  ["year", 365 * 86_400],
  ["month", 30 * 86_400],
  ["week", 7 * 86_400],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** Formatters take long to make, and a table shows hundreds of times. */
const relativeFormats = new Map<string, Intl.RelativeTimeFormat>();
const dateFormats = new Map<string, Intl.DateTimeFormat>();

function relativeFormat(locale: string): Intl.RelativeTimeFormat {
  const format = relativeFormats.get(locale) ?? new Intl.RelativeTimeFormat(locale, { numeric: "always" });
  relativeFormats.set(locale, format);
  return format;
}

function dateFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = JSON.stringify([locale, options]);
  const format = dateFormats.get(key) ?? new Intl.DateTimeFormat(locale, options);
  dateFormats.set(key, format);
  return format;
}

/** Such as "3 days ago", "in 2 hours", "just now". `now` and `time` are in Unix milliseconds. */
export function relativeTime(time: number, now: number, locale = "en"): string {
  const seconds = (time - now) / 1000;
  const [unit, length] = units.find(([, length]) => Math.abs(seconds) >= length) ?? [];
  if (unit === undefined) return seconds <= 0 ? "just now" : "in less than a minute";
  return relativeFormat(locale).format(Math.trunc(seconds / length), unit);
}

/** Such as "29 Nov 2026, 14:02", in the reader's time zone unless one is named. */
export function exactTime(time: number, timeZone?: string, locale = "en-GB"): string {
  return dateFormat(locale, {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    ...(timeZone !== undefined && { timeZone }),
  }).format(time);
}

/** Such as "November 2026" for "2026-11", or "Nov" when `length` is "short". */
export function monthName(month: string, length: "long" | "short" = "long", locale = "en-GB"): string {
  return dateFormat(locale, {
    month: length,
    ...(length === "long" && { year: "numeric" }),
    timeZone: "UTC",
  }).format(Date.parse(`${month}-01T00:00:00Z`));
}

/** A calendar day such as "31 Jan 2026" for "2026-01-31". */
export function dayName(day: string, locale = "en-GB"): string {
  return dateFormat(locale, { dateStyle: "medium", timeZone: "UTC" }).format(Date.parse(`${day}T00:00:00Z`));
}
