/**
 * A page, by descending id, of rows that are read whole, such as an organization's teams; and how many there
 * are in all.
 */
export const pageOf = <T extends { id: number }>(
  rows: readonly T[],
  { limit, offset }: { limit: number; offset: number },
): { items: T[]; total: number } => ({
  items: rows.toSorted((one, other) => other.id - one.id).slice(offset, offset + limit),
  total: rows.length,
});
