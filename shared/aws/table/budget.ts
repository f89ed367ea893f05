import { rowOf, type Write } from "./condition.ts";
import { maxTransactionWrites } from "./table.ts";

/**
 * What still fits into one transaction, as the writes themselves tell. Writes on one row, such as those of a
 * counter, count once, because they have to become one write.
 */
export class TransactionBudget {
  readonly #rows: Set<string>;

  /** `writes`: those that are in the transaction in any case. */
  constructor(writes: readonly Write[] = []) {
    this.#rows = new Set(writes.map(rowOf));
  }

  /** Takes all of these writes, or none if they do not all fit. Returns whether it has taken them. */
  take(writes: readonly Write[]): boolean {
    const added = new Set(writes.map(rowOf).filter((row) => !this.#rows.has(row)));
    if (this.#rows.size + added.size > maxTransactionWrites) return false;
    for (const row of added) this.#rows.add(row);
    return true;
  }
}

/**
 * Cuts items into groups, in their order. Each fits into one transaction besides `also`. Throws when one
 * item alone does not.
 */
export function* inTransactions<T>(
  items: readonly T[],
  writesOf: (item: T) => readonly Write[],
  also: readonly Write[] = [],
): Generator<T[], void, undefined> {
  let group: T[] = [];
  let budget = new TransactionBudget(also);
  for (const item of items) {
    if (!budget.take(writesOf(item))) {
      if (group.length > 0) yield group;
      group = [];
      budget = new TransactionBudget(also);
      if (!budget.take(writesOf(item)))
        throw new Error("The writes of one item do not fit into a transaction");
    }
    group.push(item);
  }
  if (group.length > 0) yield group;
}
