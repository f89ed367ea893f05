import { describe, expect, test } from "vitest";
import { parseScheduleExpression } from "../../local/schedule-expression.ts";

const start = Date.parse("2030-01-01T00:00:30Z");

function occurrences(expression: string, after: string, count: number): string[] {
  const recurrence = parseScheduleExpression(expression, start);
  const times: string[] = [];
  let time: number | undefined = Date.parse(after);
  for (let index = 0; index < count; index += 1) {
    time = recurrence.next(time);
    if (time === undefined) {
      break;
    }
    times.push(new Date(time).toISOString().replace(":00.000Z", ""));
  }
  return times;
}

describe("a schedule expression", () => {
  test("at() comes once", () => {
    expect(occurrences("at(2030-05-01T10:00:00)", "2030-01-01T00:00:00Z", 3)).toEqual(["2030-05-01T10:00"]);
    expect(parseScheduleExpression("at(2030-05-01T10:00:00)", start).isOneTime).toBe(true);
  });

  test("rate() counts from its start, which is the first occurrence", () => {
    const { next } = parseScheduleExpression("rate(15 minutes)", start);
    expect(next(start - 1)).toBe(start);
    expect(next(start)).toBe(start + 900_000);
    expect(next(start + 899_999)).toBe(start + 900_000);
    expect(parseScheduleExpression("rate(1 day)", start).next(start)).toBe(start + 86_400_000);
  });

  test.each([
    ["cron(0 9 * * ? *)", ["2030-01-01T09:00", "2030-01-02T09:00"]],
    [
      "cron(*/20 8-9 ? * MON-FRI *)",
      ["2030-01-01T08:00", "2030-01-01T08:20", "2030-01-01T08:40", "2030-01-01T09:00"],
    ],
    ["cron(0 0 1,15 * ? *)", ["2030-01-15T00:00", "2030-02-01T00:00"]],
    ["cron(30 6 L * ? *)", ["2030-01-31T06:30", "2030-02-28T06:30"]],
    ["cron(0 0 1W JUN ? 2030)", ["2030-06-03T00:00"]],
    ["cron(0 0 ? * 6L *)", ["2030-01-25T00:00", "2030-02-22T00:00"]],
    ["cron(0 0 ? * 3#2 *)", ["2030-01-08T00:00", "2030-02-12T00:00"]],
    ["cron(0 0 29 2 ? *)", ["2032-02-29T00:00"]],
    ["cron(5/25 0 1 1 ? 2031)", ["2031-01-01T00:05", "2031-01-01T00:30", "2031-01-01T00:55"]],
  ])("%s", (expression, expected) => {
    expect(occurrences(expression, "2030-01-01T00:00:00Z", expected.length)).toEqual(expected);
  });

  test("of the past has no next", () => {
    expect(occurrences("cron(0 0 1 1 ? 2020)", "2030-01-01T00:00:00Z", 1)).toEqual([]);
  });

  test.each([
    "",
    "rate(0 minutes)",
    "rate(5 seconds)",
    "rate(1.5 hours)",
    "at(tomorrow)",
    "at(2030-02-30T00:00:99)",
    "cron(0 9 * * *)",
    "cron(0 9 * * * *)",
    "cron(0 9 ? * ? *)",
    "cron(61 9 * * ? *)",
    "cron(0 9 * FOO ? *)",
  ])("%s is refused", (expression) => {
    expect(() => parseScheduleExpression(expression, start)).toThrow("Invalid");
  });
});
