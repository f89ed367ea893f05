/**
 * A page, by descending id, of rows in any order that are read whole, such as the teams of an organization;
 * and how many there are in all.
 */
export const pageOf = <T extends { id: number }>(
  rows: readonly T[],
  { limit, offset }: { limit: number; offset: number },
): { items: T[]; total: number } => ({
  items: rows.toSorted((one, other) => other.id - one.id).slice(offset, offset + limit),
  total: rows.length,
});
