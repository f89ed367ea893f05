import { describe, expect, it } from "vitest";
import { inTransactions, TransactionBudget } from "../../../shared/aws/table/budget.ts";
import type { Write } from "../../../shared/aws/table/condition.ts";
import { maxTransactionWrites } from "../../../shared/aws/table/table.ts";

const write = (sk: string): Write => ({ update: { pk: "BUDGET", sk }, add: { count: 1 } });

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

describe("a budget", () => {
  it("takes writes up to DynamoDB's limit and counts those on one row once", () => {
    const budget = new TransactionBudget([write("counter")]);
    for (const number of numbers(maxTransactionWrites - 2)) {
      expect(budget.take([write(`member ${number}`), write("counter")])).toBe(true);
    }
    expect(budget.take([write("last"), write("one too many")])).toBe(false);
    expect(budget.take([write("last"), write("counter")])).toBe(true);
    expect(budget.take([write("one too many")])).toBe(false);
  });

  it("cuts items into the largest groups that fit, in their order", () => {
    const groups = [
      ...inTransactions(numbers(250), (item) => [write(`member ${item}`), write("counter")], [write("log")]),
    ];
    expect(groups.map((group) => group.length)).toEqual([98, 98, 54]);
    expect(groups.flat()).toEqual(numbers(250));
  });

  it("refuses an item that does not fit into any transaction", () => {
    const tooMany = numbers(maxTransactionWrites + 1).map((number) => write(String(number)));
    expect(() => [...inTransactions([1], () => tooMany)]).toThrow(/do not fit/);
  });
});
