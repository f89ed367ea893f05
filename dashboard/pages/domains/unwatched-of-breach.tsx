import { call } from "../../api/client.ts";
import { Pending } from "../../components/notice.tsx";
import { Table } from "../../components/table.tsx";
import { useData } from "../../components/use-data.ts";
import { addressOf } from "../../place.ts";
import { number } from "../../text/words.ts";
import { columns, useUnwatched } from "./unwatched-list.tsx";

/** More are on the list of all: the breach's page has a list of people with pages of its own. */
const mostShown = 10;

/** The addresses in a breach that nobody watches. `count`: how many there are, as the page knows. */
export function UnwatchedOfBreach({ id, count }: { id: string; count: number }) {
  const filters = { breachId: id, ignored: "false" };
  const data = useData(id, (signal) =>
    call(
      "GET /dashboard/unwatched",
      { query: { ...filters, order: "newest", limit: mostShown } },
      { signal },
    ),
  );
  const { column, bar, dialog, failure } = useUnwatched(filters, data);
  const { total = count, addresses = [] } = data.value ?? {};
  return (
    <section id="not-watched">
      <h2>Not watched: {number(total)}</h2>
      <Pending data={data} what="addresses" />
      {failure}
      {bar}
      {addresses.length > 0 && (
        <Table
          caption="addresses that nobody watches"
          columns={[column, ...columns]}
          rows={addresses}
          isBusy={data.isLoading}
        />
      )}
      {total > addresses.length && addresses.length > 0 && (
        <p>
          <a href={addressOf("/domains/unwatched", { breachId: id })}>Show all {number(total)}</a>
        </p>
      )}
      {dialog}
    </section>
  );
}
