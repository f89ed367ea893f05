/** When a schedule is due, in milliseconds since 1970, UTC. */
export interface Recurrence {
  /** The first time after `after` (exclusive), or undefined when there is none. */
  next(after: number): number | undefined;
  readonly isOneTime: boolean;
}

const minute = 60_000;
const unitMilliseconds: Record<string, number> = { minute, hour: 60 * minute, day: 24 * 60 * minute };
const months = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const weekdays = "SUN MON TUE WED THU FRI SAT".split(" ");
const lastYear = 2199;

/**
 * Reads an EventBridge Scheduler expression: `at(yyyy-mm-ddThh:mm:ss)`, `rate(value unit)` or
 * `cron(minutes hours day-of-month month day-of-week year)`, all in UTC. A rate counts from `start`, which is its first
 * occurrence.
 * @throws Error if the expression is malformed.
 */
export function parseScheduleExpression(expression: string, start: number): Recurrence {
  const [, kind, content = ""] = /^(at|rate|cron)\((.*)\)$/.exec(expression) ?? [];
  switch (kind) {
    case "at":
      return parseAt(content);
    case "rate":
      return parseRate(content, start);
    case "cron":
      return parseCron(content);
    default:
      throw new Error(`Invalid Schedule Expression ${expression}.`);
  }
}

function parseAt(content: string): Recurrence {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(content) ? Date.parse(`${content}Z`) : Number.NaN;
  if (Number.isNaN(time)) {
    throw new Error(`Invalid Schedule Expression at(${content}).`);
  }
  return { isOneTime: true, next: (after) => (after < time ? time : undefined) };
}

function parseRate(content: string, start: number): Recurrence {
  const [, value = "", unit = ""] = /^([1-9]\d*) (minute|hour|day)s?$/.exec(content) ?? [];
  const interval = Number(value) * (unitMilliseconds[unit] ?? 0);
  if (!(interval > 0)) {
    throw new Error(`Invalid Schedule Expression rate(${content}).`);
  }
  return {
    isOneTime: false,
    next: (after) =>
      after < start ? start : start + (Math.floor((after - start) / interval) + 1) * interval,
  };
}

function parseCron(content: string): Recurrence {
  const fields = content.trim().split(/\s+/);
  const [
    minutesText = "",
    hoursText = "",
    daysText = "",
    monthsText = "",
    weekdaysText = "",
    yearsText = "",
  ] = fields;
  if (fields.length !== 6 || (daysText === "?") === (weekdaysText === "?")) {
    throw new Error(`Invalid Schedule Expression cron(${content}).`);
  }
  const minutes = parseField(minutesText, 0, 59);
  const hours = parseField(hoursText, 0, 23);
  const inMonth = parseField(monthsText, 1, 12, months);
  const inYear = parseField(yearsText, 1970, lastYear);
  const isDay = daysText === "?" ? parseWeekdays(weekdaysText) : parseDays(daysText);

  function next(after: number): number | undefined {
    const day = new Date(after);
    day.setUTCHours(0, 0, 0, 0);
    for (; day.getUTCFullYear() <= lastYear; day.setUTCDate(day.getUTCDate() + 1)) {
      if (inYear.has(day.getUTCFullYear()) && inMonth.has(day.getUTCMonth() + 1) && isDay(day)) {
        for (const hour of hours) {
          for (const minuteOfHour of minutes) {
            const time = day.getTime() + hour * 60 * minute + minuteOfHour * minute;
            if (time > after) {
              return time;
            }
          }
        }
      }
    }
    return undefined;
  }
  return { isOneTime: false, next };
}

/** `*`, values, ranges and steps, joined by commas; in ascending order. */
function parseField(text: string, from: number, to: number, names: readonly string[] = []): Set<number> {
  const values = new Set<number>();
  const read = (value: string): number => {
    const named = names.indexOf(value.toUpperCase());
    const number = named >= 0 ? named + from : /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= from && number <= to)) {
      throw new Error(`Invalid value ${value} in a cron expression.`);
    }
    return number;
  };
  for (const part of text.split(",")) {
    const [range = "", stepText] = part.split("/");
    const step = stepText === undefined ? 1 : Number(stepText);
    if (!Number.isInteger(step) || step < 1) {
      throw new Error(`Invalid step ${stepText} in a cron expression.`);
    }
    const [first = "", last] = range.split("-");
    const low = first === "*" ? from : read(first);
    const high = last !== undefined ? read(last) : first === "*" || stepText !== undefined ? to : low;
    for (let value = low; value <= high; value += step) {
      values.add(value);
    }
  }
  return new Set([...values].sort((a, b) => a - b));
}

/** Day of month: also `L` (the last) and `15W` (the weekday nearest to the 15th, within the month). */
function parseDays(text: string): (day: Date) => boolean {
  if (text === "L") {
    return (day) => day.getUTCDate() === lastDayOf(day);
  }
  const nearest = /^(\d{1,2})W$/.exec(text)?.[1];
  if (nearest !== undefined) {
    const [wanted = 1] = parseField(nearest, 1, 31);
    return (day) => wanted <= lastDayOf(day) && day.getUTCDate() === nearestWeekday(day, wanted);
  }
  const days = parseField(text, 1, 31);
  return (day) => days.has(day.getUTCDate());
}

/** Day of week, 1 is Sunday: also `6L` (the month's last Friday) and `3#2` (its second Tuesday). */
function parseWeekdays(text: string): (day: Date) => boolean {
  const weekdayOf = (day: Date) => day.getUTCDay() + 1;
  const [, last] = /^(.+)L$/.exec(text) ?? [];
  if (last !== undefined) {
    const [wanted] = parseField(last, 1, 7, weekdays);
    return (day) => weekdayOf(day) === wanted && day.getUTCDate() + 7 > lastDayOf(day);
  }
  const [, nth, count] = /^(.+)#([1-5])$/.exec(text) ?? [];
  if (nth !== undefined) {
    const [wanted] = parseField(nth, 1, 7, weekdays);
    return (day) => weekdayOf(day) === wanted && Math.ceil(day.getUTCDate() / 7) === Number(count);
  }
  const days = text === "L" ? new Set([7]) : parseField(text, 1, 7, weekdays);
  return (day) => days.has(weekdayOf(day));
}

function nearestWeekday(day: Date, wanted: number): number {
  const weekday = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), wanted)).getUTCDay();
  if (weekday === 6) {
    return wanted === 1 ? 3 : wanted - 1;
  }
  if (weekday === 0) {
    return wanted === lastDayOf(day) ? wanted - 2 : wanted + 1;
  }
  return wanted;
}

function lastDayOf(day: Date): number {
  return new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + 1, 0)).getUTCDate();
}
