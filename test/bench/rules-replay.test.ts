import { expect, test } from "vitest";
import { replay } from "../../bench/rules-replay.ts";

test("in three years of a company no rule ends a finding wrongly, nor leaves one open", () => {
  const { findings, ended, reopened, byPeople, open, wrong, missed, judged } = replay(4);
  expect({ wrong, missed }).toEqual({ wrong: 0, missed: 0 });
  expect(judged).toBeGreaterThan(findings);
  expect(Math.min(ended.left, ended.password_changed, ended.harmless, reopened)).toBeGreaterThan(100);
  expect(ended.left + ended.password_changed + ended.harmless + byPeople + open).toBe(findings);
});
