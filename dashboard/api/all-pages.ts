/** The most rows that a page of a list has. */
const limit = 100;

type PageOf<Name extends string> = { total: number } & Record<Name, readonly { id: number }[]>;

/**
 * Asks for the pages of a list, and yields each row once. Rows that leave the list meanwhile move later ones
 * to places that were read already. So each page repeats the last row that was read. Where it repeats none,
 * an earlier page is asked for.
 */
export async function* allPages<Name extends string, Page extends PageOf<Name>>(
  name: Name,
  ask: (query: { limit: number; offset: number }) => Promise<Page>,
): AsyncGenerator<{ rows: Page[Name][number][]; total: number }> {
  const read = new Set<number>();
  for (let offset = 0; ; ) {
    const { [name]: rows, total }: Page = await ask({ limit, offset });
    const unread: Page[Name][number][] = rows.filter(({ id }) => !read.has(id));
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
