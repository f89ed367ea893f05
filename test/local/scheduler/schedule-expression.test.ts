import { describe, expect, test } from "vitest";
import { parseScheduleExpression } from "../../../local/scheduler/schedule-expression.ts";

const start = Date.parse("2030-01-01T00:00:30Z");

describe("a schedule expression", () => {
  test("rate() counts from its start, which is the first occurrence", () => {
    const next = parseScheduleExpression("rate(15 minutes)", start);
    expect(next(start - 1)).toBe(start);
    expect(next(start)).toBe(start + 900_000);
    expect(next(start + 899_999)).toBe(start + 900_000);
    expect(parseScheduleExpression("rate(1 day)", start)(start)).toBe(start + 86_400_000);
  });

  test.each(["", "rate(0 minutes)", "rate(5 seconds)", "rate(1.5 hours)", "rate(1 day) ", "every day"])(
    "%j is refused",
    (expression) => {
      expect(() => parseScheduleExpression(expression, start)).toThrow("Invalid");
    },
  );

  test.each(["at(2030-05-01T10:00:00)", "cron(0 9 * * ? *)"])(
    "%s is refused as a kind that a local run does not know",
    (expression) => {
      expect(() => parseScheduleExpression(expression, start)).toThrow(
        `A local run knows no ScheduleExpression but rate(), and this is ${expression}.`,
      );
    },
  );
});
