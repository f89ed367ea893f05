/** The most rows that a page of a list has. */
const limit = 100;

/**
 * Asks for the pages of a list, and yields each row once. Rows that leave the list meanwhile move others to places that were read already:
 * so each page repeats the last row that was read, and where it repeats none, an earlier page is asked for.
 */
export async function* allPages<Page extends { total: number }, Row extends { id: number }>(
  ask: (query: { limit: number; offset: number }) => Promise<Page>,
  rowsOf: (page: Page) => readonly Row[],
): AsyncGenerator<{ rows: Row[]; total: number }> {
  const read = new Set<number>();
  for (let offset = 0; ; ) {
    const page = await ask({ limit, offset });
    const { total } = page;
    const rows = rowsOf(page);
    const unread = rows.filter(({ id }) => !read.has(id));
    if (offset > 0 && unread.length === rows.length) {
      offset = Math.max(0, Math.min(offset, total) - limit + 1);
      continue;
    }
    for (const { id } of unread) read.add(id);
    yield { rows: unread, total };
    const isAtEnd = unread.length === 0 && rows.length < limit;
    if (isAtEnd || offset + limit >= total) return;
    offset += rows.length - 1;
  }
}
