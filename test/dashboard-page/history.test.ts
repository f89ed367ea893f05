import { expect, test } from "vitest";
import { changeInWords } from "../../dashboard/pages/emails/history.ts";

const at = "2026-11-03T12:15:00.000Z";

test("what followed from a directory is told with its reason", () => {
  const told = (["added", "enabled", "disabled", "renamed"] as const).map((did) =>
    changeInWords({ at, did }, "Ada Lovelace", true),
  );
  expect(told).toEqual([
    expect.stringMatching(/^Added on 3 Nov 2026, \d\d:15: the directory named the address\.$/),
    expect.stringMatching(/^Enabled on .*: the directory says that Ada Lovelace is here\.$/),
    expect.stringMatching(/^Disabled on .*: the directory says that Ada Lovelace has left\.$/),
    expect.stringMatching(/^Changed on .*: the directory gave another owner or team\.$/),
  ]);
  expect(changeInWords({ at, did: "disabled" }, "Ada Lovelace", false)).toMatch(
    /: no directory names the address any more\.$/,
  );
});
