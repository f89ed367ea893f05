import { expect, test } from "vitest";
import { keys } from "../../shared/aws/table/keys.ts";
import { compare } from "../../shared/operations/audit/derived-row.ts";

const key = keys.tally(1, "EMAIL", 0);
const holds = { "1-1-1": 1, "9-9-9": undefined };

test("a wrong row is described alike in whatever order its attributes come", () => {
  const says = [
    { "1-1-1": 4, "9-9-9": 2 },
    { "9-9-9": 2, "1-1-1": 4 },
  ].map((row) => {
    const names = Object.keys(row);
    const inOrder = Object.fromEntries(names.map((name) => [name, holds[name as keyof typeof holds]]));
    return compare({ kind: "email block", id: 0 }, { key, row: { ...key, ...row }, holds: inOrder })[0]?.says;
  });
  expect(says).toEqual(Array(2).fill("1-1-1 is 4, should be 1; 9-9-9 is 2, should be none"));
});
