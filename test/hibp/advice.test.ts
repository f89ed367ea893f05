import { describe, expect, test } from "vitest";
import { adviceOf } from "../../shared/hibp/advice.ts";
import { breachOf } from "../../shared/hibp/breach.ts";
import { classesByTopic, type Exposure } from "../../shared/hibp/severity.ts";

const titles = (dataClasses: string[], flags: Partial<Exposure> = {}): string[] =>
  adviceOf(breachOf({ name: "A", ...flags, dataClasses })).map(({ title }) => title);

describe("advice", () => {
  test("is by what leaked, worst first", () => {
    expect(titles(["Email addresses", "Phone numbers", "Credit cards", "Passwords"])).toEqual([
      "Secrets that open accounts leaked",
      "Bank accounts or cards can be misused",
      "Expect phishing that knows details",
      "Expect more unwanted mail",
    ]);
    expect(titles(["Email addresses"])).toEqual(["Expect more unwanted mail"]);
    expect(titles(["Passport numbers"])).toEqual(["Identity documents leaked"]);
    expect(titles(["HIV statuses"])).toEqual(["Very personal data leaked"]);
    expect(titles([])).toEqual([]);
  });

  test("is at most four, and begins with the device where one is infected", () => {
    const all = Object.values(classesByTopic).flat();
    expect(titles(all)).toHaveLength(4);
    for (const flag of ["isStealerLog", "isMalware"]) {
      expect(titles(all, { [flag]: true, isSpamList: true })).toHaveLength(4);
      expect(titles(["Passwords"], { [flag]: true })).toEqual([
        "A device of this person is or was infected",
        "Secrets that open accounts leaked",
      ]);
    }
  });

  test("of a spam list or an invented breach changes no account", () => {
    expect(titles(["Passwords"], { isSpamList: true })).toEqual([
      "The address is on a list that spammers use",
    ]);
    expect(titles(["Passwords"], { isFabricated: true })).toEqual(["The data may be invented"]);
  });

  test("on an unknown data class is to expect deception", () => {
    expect(titles(["Dreams of last night"])).toEqual(["Expect phishing that knows details"]);
  });

  test("has steps for every data class", () => {
    for (const dataClass of Object.values(classesByTopic).flat()) {
      const [first] = adviceOf(breachOf({ name: "A", dataClasses: [dataClass] }));
      expect(first?.steps.length, dataClass).toBeGreaterThan(0);
    }
  });
});
