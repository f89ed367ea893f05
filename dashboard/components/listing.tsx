import type { ComponentChildren } from "preact";
import { offsetOf } from "../place.ts";
import { place } from "../router.ts";
import { NoMatch, Pending } from "./notice.tsx";
import { Pager, pageSize } from "./pager.tsx";
import { type Column, type Keyed, Table } from "./table.tsx";
import { type Data, useData } from "./use-data.ts";

type Paged = { limit: number; offset: string | undefined };

/** Loads the page of a list that the URL names, with as many rows as people chose. */
export function usePage<Value, Filters extends object>(
  filters: Filters,
  load: (query: Filters & Paged, signal: AbortSignal) => Promise<Value>,
): Data<Value> {
  const query = { ...filters, offset: place.value.query.offset, limit: pageSize.value };
  return useData(JSON.stringify(query), (signal) => load(query, signal));
}

type ListingProps<Value, Row> = {
  /** What is listed, such as "findings". */
  what: string;
  data: Data<Value>;
  rowsOf: (value: Value) => readonly Row[];
  columns: readonly Column<Row>[];
  /** What is shown when nothing is listed. */
  empty: ComponentChildren;
};

/**
 * A list from the service in all its states: loading, failed, empty, and pages of rows. Without a total there
 * are no pages.
 */
export function Listing<Value extends object, Row extends Keyed>(props: ListingProps<Value, Row>) {
  const { what, data, rowsOf, columns, empty } = props;
  const { value, isLoading } = data;
  const rows = value === undefined ? [] : rowsOf(value);
  const { total }: { total?: number } = value ?? {};
  // Filters come from the URL, which programs cut and people change. What is searched for people type.
  const isUnknown = data.failure?.status === 400 && data.failure.part?.path !== "q";
  const isPastEnd = rows.length === 0 && (total ?? 0) > 0 && offsetOf(place.value.query) > 0;
  return (
    <>
      {isUnknown ? (
        <NoMatch
          title="This address names a filter that is not known here: it may have been cut or changed."
          path={place.value.path}
          all={`Show all ${what}`}
        />
      ) : (
        <Pending data={data} what={what} />
      )}
      {value !== undefined &&
        (rows.length === 0 && !isPastEnd ? (
          empty
        ) : (
          <Table caption={what} columns={columns} rows={rows} isBusy={isLoading} />
        ))}
      {total !== undefined && total > 0 && <Pager total={total} shown={rows.length} isBusy={isLoading} />}
    </>
  );
}
