/** Cuts a list into chunks of at most `size` items, in their order. */
export function* chunk<T>(items: readonly T[], size: number): Generator<T[], void, undefined> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}

/** How many rows DynamoDB reads in one batch at most. */
export const maxBatchKeys = 100;
