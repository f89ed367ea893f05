import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mayEnd } from "../../../bench/rules-oracle.ts";
import { type Facts, holds, judge, type State } from "../../../shared/findings/rules/rule.ts";
import { type RuleId, rulesInOrder } from "../../../shared/findings/rules/rule-schema.ts";
import { breachOf } from "../../../shared/hibp/breach.ts";

const now = new Date("2026-11-29T12:00:00.000Z");

const published: string[] = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../cases/data-classes.json"), "utf8"),
);

type Given = Partial<Parameters<typeof breachOf>[0]> & { leftAt?: string; passwordChangedAt?: string };

const factsOf = ({ leftAt, passwordChangedAt, ...breach }: Given): Facts => ({
  person: {
    name: "Ada Lovelace",
    directory: "Entra",
    ...(leftAt && { leftAt }),
    ...(passwordChangedAt && { passwordChangedAt }),
  },
  breach: breachOf({ name: "PayrollPro", breachDate: "2026-01-31", dataClasses: ["Passwords"], ...breach }),
});

const factIn = (rule: RuleId, given: Given): string | undefined => holds(rule, factsOf(given), now)?.fact;

describe("left", () => {
  test("holds where the person has left, and says who, where and when", () => {
    expect(holds("left", factsOf({ leftAt: "2026-11-03T09:00:00.000Z" }), now)).toEqual({
      rule: "left",
      resolution: "ignored",
      fact: "Ada Lovelace left (Entra, 3 Nov 2026)",
    });
    expect(factIn("left", {})).toBeUndefined();
    expect(holds("left", { ...factsOf({}), person: undefined }, now)).toBeUndefined();
  });
});

describe("password_changed", () => {
  const after = "2026-11-03T09:00:00.000Z";

  test("holds for a password that was changed since, and says when", () => {
    expect(holds("password_changed", factsOf({ passwordChangedAt: after }), now)).toEqual({
      rule: "password_changed",
      resolution: "handled",
      fact: "Password changed on 3 Nov 2026, after the breach",
    });
    expect(factIn("password_changed", {})).toBeUndefined();
  });

  test.each([
    ["2026-03-02T00:00:00.000Z", false],
    ["2026-03-02T00:00:00.001Z", true],
    ["2026-03-02T01:00:00.000+02:00", false],
    ["2026-03-01T23:00:00.000-02:00", true],
    ["2026-01-30T00:00:00.000Z", false],
    ["not a date", false],
  ])("of a breach on 31 January, a change at %s counts: %s", (passwordChangedAt, isCounted) => {
    expect(factIn("password_changed", { passwordChangedAt }) !== undefined).toBe(isCounted);
  });

  test("a change that lies ahead has not happened", () => {
    expect(factIn("password_changed", { passwordChangedAt: "2026-12-24T00:00:00.000Z" })).toBeUndefined();
    expect(factIn("password_changed", { passwordChangedAt: "2026-11-30T11:00:00.000Z" })).toBeDefined();
  });

  test.each(["isStealerLog", "isMalware"] as const)("never holds with %s", (flag) => {
    expect(factIn("password_changed", { passwordChangedAt: after, [flag]: true })).toBeUndefined();
  });

  test("never holds where the date of the breach is not known", () => {
    expect(
      factIn("password_changed", { passwordChangedAt: after, breachDate: "1970-01-01" }),
    ).toBeUndefined();
  });

  test.each([
    [["Passwords", "Email addresses", "Usernames"], true],
    [["Historical passwords"], true],
    [["Password hints", "Security questions and answers", "Auth tokens"], true],
    [["security questions and answers"], true],
    [["Email addresses", "Usernames"], false],
    [["Password strengths"], false],
    [["Passwords", "Phone numbers"], false],
    [["Passwords", "PINs"], false],
    [["Passwords", "Encrypted keys"], false],
    [["Passwords", "Mnemonic phrases"], false],
    [["Passwords", "Mothers maiden names"], false],
    [["Passwords", "A class that nobody knows"], false],
    [[], false],
  ])("with %j it holds: %s", (dataClasses, isHolding) => {
    const given = { passwordChangedAt: after, dataClasses };
    expect(factIn("password_changed", given) !== undefined).toBe(isHolding);
    // What is not verified is one level less severe, and leaked all the same.
    expect(factIn("password_changed", { ...given, isVerified: false }) !== undefined).toBe(isHolding);
  });
});

describe("harmless", () => {
  test.each([
    [{ dataClasses: ["Email addresses", "Names"] }, "Low severity: Names, Email addresses"],
    [{ isSpamList: true }, "Low severity: a list of addresses for spam"],
    [{ isFabricated: true }, "Low severity: the breach is fabricated"],
    [{ dataClasses: ["Phone numbers"], isVerified: false }, "Low severity: Phone numbers, not verified"],
    [{ dataClasses: ["Phone numbers"] }, undefined],
    [{ dataClasses: ["Email addresses"], isStealerLog: true }, undefined],
    [{ dataClasses: [] }, undefined],
  ])("of %j says %s", (given, fact) => {
    expect(factIn("harmless", given)).toBe(fact);
  });

  test("names at most five data classes", () => {
    const dataClasses = ["Names", "Usernames", "Genders", "Bios", "Avatars", "Nicknames", "Email addresses"];
    expect(factIn("harmless", { dataClasses })).toBe(
      "Low severity: Names, Usernames, Genders, Bios, Avatars and 2 more",
    );
  });
});

const day = fc.integer({ min: 0, max: 1_500 }).map((days) => new Date(Date.UTC(2023, 0, 1 + days)));
const instant = day.map((date) => new Date(date.getTime() + 12_345).toISOString());

const facts = fc.record({
  leftAt: fc.option(instant, { nil: undefined }),
  passwordChangedAt: fc.option(instant, { nil: undefined }),
  breachDate: fc.oneof(
    { weight: 9, arbitrary: day.map((date) => date.toISOString().slice(0, 10)) },
    fc.constant("1970-01-01"),
  ),
  dataClasses: fc.uniqueArray(
    fc.oneof(fc.constantFrom("Passwords", "Names"), fc.constantFrom(...published)),
    {
      maxLength: 4,
    },
  ),
  isVerified: fc.boolean(),
  isStealerLog: fc.boolean(),
  isMalware: fc.boolean(),
  isSpamList: fc.boolean(),
  isFabricated: fc.boolean(),
});

const built = (given: Record<string, unknown>): Facts =>
  factsOf(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)));

test("each rule holds exactly where the table of the documents says so", () => {
  fc.assert(
    fc.property(facts, (given) => {
      const of = built(given);
      for (const rule of rulesInOrder) {
        const isHolding = holds(rule, of, now) !== undefined;
        expect([rule, isHolding]).toEqual([rule, mayEnd[rule]?.({ ...given, ...of.breach }, now.getTime())]);
      }
    }),
    { numRuns: 3_000 },
  );
});

const some = fc.subarray([...rulesInOrder]).map((rules): ReadonlySet<RuleId> => new Set(rules));

/** What is left of a finding after a verdict. */
const after = (state: State, of: Facts, isOn: ReadonlySet<RuleId>): State => {
  const verdict = judge(state, of, isOn, now);
  if (verdict.is === "kept") return state;
  return verdict.is === "ended" ? { is: "ended", rule: verdict.ending.rule } : { is: "open" };
};

test("any order of facts leads to the same findings being open", () => {
  fc.assert(
    fc.property(fc.array(facts, { minLength: 1, maxLength: 6 }), facts, some, (before, last, isOn) => {
      const visited = before.reduce<State>((state, each) => after(state, built(each), isOn), { is: "open" });
      const [oneWay, directly] = [visited, { is: "open" } as State].map((state) =>
        after(state, built(last), isOn),
      );
      expect(oneWay?.is).toBe(directly?.is);
      // And once is enough.
      expect(after(oneWay as State, built(last), isOn)).toEqual(oneWay);
    }),
  );
});

test("a rule stays while it holds, and one that is off changes nothing", () => {
  fc.assert(
    fc.property(facts, some, fc.constantFrom(...rulesInOrder), (given, isOn, rule) => {
      const of = built(given);
      const state: State = { is: "ended", rule };
      const isKept = !isOn.has(rule) || holds(rule, of, now) !== undefined;
      if (isKept) expect(judge(state, of, isOn, now)).toEqual({ is: "kept" });
      else expect(judge(state, of, isOn, now).is).not.toBe("kept");
    }),
  );
});

test("no rule touches what a person has acknowledged or reopened", () => {
  fc.assert(
    fc.property(facts, some, (given, isOn) => {
      expect(judge({ is: "theirs" }, built(given), isOn, now)).toEqual({ is: "kept" });
    }),
  );
});

test("without a rule that is on nothing ends", () => {
  fc.assert(
    fc.property(facts, (given) => {
      expect(judge({ is: "open" }, built(given), new Set(), now)).toEqual({ is: "kept" });
    }),
  );
});
