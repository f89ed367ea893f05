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

/** Such as "3 days ago", "in 2 hours", "just now", rounded. `now` and `time` are in Unix milliseconds. */
export function relativeTime(time: number, now: number, locale = "en"): string {
  const seconds = Math.round((time - now) / 1000);
  const shown = rounded(seconds);
  if (shown === undefined) return seconds <= 0 ? "just now" : "in less than a minute";
  return relativeFormat(locale).format(shown.value, shown.unit);
}

/** Such as "3 days", rounded as `relativeTime` does. */
export function timePassed(since: number, now: number, locale = "en"): string {
  const shown = rounded(Math.round((now - since) / 1000));
  if (shown === undefined) return "a moment";
  const { unit, value } = shown;
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(value);
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
