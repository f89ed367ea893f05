import { expect, test } from "vitest";
import { storedBytes } from "../../bench/stored-bytes.ts";

const key = { pk: "ORG#1", sk: "é" };
/** Names and values of the key, and 100 bytes for the item itself. */
const keyBytes = 2 + 5 + 2 + 2 + 100;

test.each([
  ["a string", "naïve", 6],
  ["a number", 1234, 3],
  ["a number with an odd count of digits", 123, 3],
  ["a number without the zeros at its ends", 12_000, 2],
  ["zero", 0, 1],
  ["a number with decimals", -0.125, 3],
  ["a boolean", false, 1],
  ["null", null, 1],
  ["a list", ["ab", 7], 3 + (1 + 2) + (1 + 2)],
  ["a map", { a: "b", cd: 12 }, 3 + (1 + 1 + 1) + (1 + 2 + 2)],
  ["an empty map", {}, 3],
  ["a set", new Set([1, 12]), 4],
  ["an undefined attribute", undefined, -"value".length],
])("%s has the size that DynamoDB bills", (_, value, bytes) => {
  expect(storedBytes([{ ...key, value }])).toBe(keyBytes + "value".length + bytes);
});

test("a due row is billed again for its copy in the index, which holds only keys", () => {
  const due = { dueShard: "SCAN#1", dueAt: "2026" };
  const dueBytes = 8 + 6 + 5 + 4;
  expect(storedBytes([{ ...key, ...due, more: "more" }])).toBe(2 * (keyBytes + dueBytes) + 8);
});
