/** The most rows that a page of a list has. */
const limit = 100;

/** Asks for the pages of a list, one after the other. */
export async function* allPages<Page extends { total: number }>(
  ask: (query: { limit: number; offset: number }) => Promise<Page>,
): AsyncGenerator<Page> {
  for (let offset = 0, total = 1; offset < total; offset += limit) {
    const page = await ask({ limit, offset });
    yield page;
    total = page.total;
  }
}
