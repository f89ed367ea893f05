import { expect, test, vi } from "vitest";
import {
  breachDayName,
  dayName,
  knownDay,
  monthName,
  relativeTime,
  shortMonthName,
  timePassed,
} from "../../dashboard/text/dates.ts";

const now = Date.parse("2026-12-02T12:00:00.000Z");

test.each([
  ["2026-12-02T11:59:55Z", "just now"],
  ["2026-12-02T12:00:03Z", "just now"],
  ["2026-12-02T12:00:20Z", "in less than a minute"],
  ["2026-12-02T11:59:00Z", "1 minute ago"],
  ["2026-12-02T11:00:01Z", "1 hour ago"],
  ["2026-12-01T11:00:00Z", "1 day ago"],
  ["2026-11-18T12:00:00Z", "2 weeks ago"],
  ["2026-09-02T12:00:00Z", "3 months ago"],
  ["2024-11-02T12:00:00Z", "2 years ago"],
  ["2025-12-03T12:00:00Z", "1 year ago"],
  ["2026-12-02T14:20:00Z", "in 2 hours"],
  ["2026-12-02T14:40:00Z", "in 3 hours"],
  ["2026-12-03T11:59:50Z", "in 1 day"],
  ["2026-12-03T13:00:00Z", "in 1 day"],
  ["2026-12-09T11:59:50Z", "in 7 days"],
])("%s is %s", (time, words) => {
  expect(relativeTime(Date.parse(time), now)).toBe(words);
});

test.each([
  ["2026-12-02T11:59:31Z", "a moment"],
  ["2026-12-02T11:58:40Z", "1 minute"],
  ["2026-12-02T11:00:01Z", "1 hour"],
  ["2026-11-29T12:00:00Z", "3 days"],
])("since %s %s have passed", (time, words) => {
  expect(timePassed(Date.parse(time), now)).toBe(words);
});

test.each([
  ["UTC", "29 Nov 2026, 23:02"],
  ["Asia/Tokyo", "30 Nov 2026, 08:02"],
])("an exact time names the day and the minute, in the reader's time zone: %s", async (zone, words) => {
  vi.stubEnv("TZ", zone);
  vi.resetModules();
  const { exactTime } = await import("../../dashboard/text/dates.ts");
  expect(exactTime(Date.parse("2026-11-29T23:02:00Z"))).toBe(words);
  vi.unstubAllEnvs();
});

test("months and days are those of the calendar, in every time zone", () => {
  expect(monthName("2026-11")).toBe("November 2026");
  expect(shortMonthName("2026-01")).toBe("Jan");
  expect(dayName("2026-01-31")).toBe("31 Jan 2026");
  expect(breachDayName("2026-01-31")).toBe("31 Jan 2026");
  expect([knownDay("1970-01-01"), breachDayName("1970-01-01")]).toEqual([null, "on a day that is not known"]);
});
