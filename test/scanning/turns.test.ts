import { expect, test } from "vitest";
import { blockOf, blockSize } from "../../shared/lists/blocks.ts";
import { inTurn, type Transaction } from "../../shared/scanning/record-check.ts";

/** A transaction about these e-mails whose findings begin with this id. */
const transaction = (firstId: number, ...emailIds: number[]): Transaction => ({
  group: emailIds.map((emailId) => ({ emailId, found: [1], gone: [], back: [] })),
  groupIds: emailIds.map((_, index) => {
    const id = firstId + index;
    return { id, block: blockOf(id), createdAt: "", blockFrom: "" };
  }),
});
const emailsOf = (transactions: readonly Transaction[]): number[][] =>
  transactions.map(({ group }) => group.map(({ emailId }) => emailId));

test("transactions of different blocks follow each other", () => {
  const next = blockSize + 1;
  const given = [
    transaction(1, 1),
    transaction(2, 2),
    transaction(3, 3),
    transaction(next, 4),
    transaction(next + 1, 5),
  ];
  expect(emailsOf(inTurn(given))).toEqual([[1], [4], [2], [5], [3]]);
});

test("steps of one e-mail keep their order", () => {
  const next = blockSize + 1;
  const given = [transaction(1, 1, 2), transaction(next, 2), transaction(2, 2, 3), transaction(next + 1, 4)];
  expect(emailsOf(inTurn(given))).toEqual([[1, 2], [2], [2, 3], [4]]);
});

test("a chunk without transactions has no turns", () => {
  expect(inTurn([])).toEqual([]);
});
