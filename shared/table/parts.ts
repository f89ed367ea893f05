/** A list in parts of at most `size` items, in their order: what a transaction takes, or what is done at the same time. */
export function* parts<T>(items: readonly T[], size: number): Generator<T[], void, undefined> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
