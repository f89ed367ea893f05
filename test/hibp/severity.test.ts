import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { breachOf } from "../../shared/hibp/breach.ts";
import {
  classesByTopic,
  type Exposure,
  levelOf,
  severityAt,
  severityOf,
  severityOfTopic,
  topicOf,
  worstFirst,
} from "../../shared/hibp/severity.ts";
import { type Severity, severities } from "../../shared/hibp/severity-schema.ts";

const project = join(import.meta.dirname, "..", "..");

/** What HIBP lists at /api/v3/dataclasses, put together from published copies of several years. */
const published: string[] = JSON.parse(readFileSync(join(project, "test/cases/data-classes.json"), "utf8"));

const severityWith = (dataClasses: readonly string[], flags: Partial<Exposure> = {}): Severity =>
  severityOf(breachOf({ name: "A", ...flags, dataClasses: [...dataClasses] }));

describe("rules", () => {
  test.each(["isStealerLog", "isMalware"] as const)("%s: critical, whatever else is true", (flag) => {
    for (const isSpamList of [false, true]) {
      for (const isVerified of [false, true]) {
        const flags = { [flag]: true, isSpamList, isFabricated: isSpamList, isVerified };
        expect(severityWith([], flags)).toBe("critical");
        expect(severityWith(["Passwords"], flags)).toBe("critical");
      }
    }
  });

  test.each(["isSpamList", "isFabricated"] as const)("%s: low, whatever leaked", (flag) => {
    expect(severityWith(["Passwords", "Credit cards"], { [flag]: true })).toBe("low");
  });

  test("the highest level of a data class decides, in any order", () => {
    expect(severityWith(["Email addresses", "Names"])).toBe("low");
    expect(severityWith(["Email addresses", "Phone numbers"])).toBe("medium");
    expect(severityWith(["Phone numbers", "Passwords", "Email addresses"])).toBe("high");
    expect(severityWith(["Email addresses", "Passwords", "Phone numbers"])).toBe("high");
  });

  test("what is not verified is one level lower, and never below low", () => {
    const unverified = { isVerified: false };
    expect(severityWith(["Passwords"], unverified)).toBe("medium");
    expect(severityWith(["Phone numbers"], unverified)).toBe("low");
    expect(severityWith(["Email addresses"], unverified)).toBe("low");
  });

  test("sort data classes worst first, then as HIBP does, e-mail addresses last", () => {
    expect(worstFirst(["Email addresses", "Phone numbers", "Names", "Passwords", "Dreams", "PINs"])).toEqual([
      "Passwords",
      "PINs",
      "Phone numbers",
      "Dreams",
      "Names",
      "Email addresses",
    ]);
  });

  test("an unknown data class is medium; a breach without any is low", () => {
    expect(severityWith(["Email addresses", "Dreams of last night"])).toBe("medium");
    expect(topicOf("Dreams of last night")).toBeUndefined();
    expect(severityWith([])).toBe("low");
    expect(severityWith([], { isVerified: false })).toBe("low");
  });

  test("case and apostrophes do not matter, and national IDs of any name are high", () => {
    expect(severityWith(["PASSWORDS"])).toBe("high");
    expect(severityWith(["Driver’s licenses"])).toBe("high");
    for (const name of ["National IDs", "Swedish national identity numbers", "Tax identification numbers"]) {
      expect(severityWith([name])).toBe("high");
    }
    expect(topicOf("International identity")).toBeUndefined();
  });

  test("sensitive and retired breaches keep their severity", () => {
    const both = { isSensitive: true, isRetired: true };
    expect(severityOf(breachOf({ name: "A", dataClasses: ["Names"], ...both }))).toBe("low");
  });
});

describe("the table", () => {
  test.each(published)("knows %s", (dataClass) => {
    expect(topicOf(dataClass)).toBeDefined();
  });

  test("has every data class once", () => {
    const all = Object.values(classesByTopic).flat();
    expect(new Set(all.map((name) => name.toLowerCase())).size).toBe(all.length);
  });

  test("is the one of docs/severity.md", () => {
    const text = readFileSync(join(project, "docs/severity.md"), "utf8");
    const rows = [...text.matchAll(/^\| (critical|high|medium|low) \| (.+) \| (.+) \|$/gm)];
    expect(rows.map(([, level, names]) => ({ level, names: names?.split(", ") }))).toEqual(
      Object.entries(classesByTopic).map(([topic, names]) => ({
        level: severityOfTopic[topic as keyof typeof classesByTopic],
        names,
      })),
    );
  });

  test("levels of group keys stay what they are", () => {
    expect(severities.map(levelOf)).toEqual([4, 3, 2, 1]);
    expect([4, 3, 2, 1].map(severityAt)).toEqual(severities);
  });
});
