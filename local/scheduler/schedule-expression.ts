/** When a schedule is due the first time after `after` (exclusive). Both are Unix milliseconds. */
export type Recurrence = (after: number) => number;

const minute = 60_000;
const unitMilliseconds: Record<string, number> = { minute, hour: 60 * minute, day: 24 * 60 * minute };

/**
 * Reads `rate(value unit)`, the only kind of expression that a local run knows. `start` is its first
 * occurrence. Throws if the expression is of another kind or malformed.
 */
export const parseScheduleExpression = (expression: string, start: number): Recurrence => {
  if (/^(at|cron)\(/.test(expression)) {
    throw new Error(`A local run knows no ScheduleExpression but rate(), and this is ${expression}.`);
  }
  const [, value = "", unit = ""] = /^rate\(([1-9]\d*) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  const interval = Number(value) * (unitMilliseconds[unit] ?? 0);
  if (!(interval > 0)) throw new Error(`Invalid Schedule Expression ${expression}.`);
  return (after) => (after < start ? start : start + (Math.floor((after - start) / interval) + 1) * interval);
};
