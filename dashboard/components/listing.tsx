import type { ComponentChildren } from "preact";
import { offsetOf } from "../place.ts";
import { place } from "../router.ts";
import { FailureNotice, Loading } from "./notice.tsx";
import { Pager, pageSize } from "./pager.tsx";
import { type Column, Table } from "./table.tsx";
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
  /** How many there are on all pages; undefined for lists without pages. */
  totalOf?: (value: Value) => number;
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => string | number;
  /** What is shown when nothing is listed. */
  empty: ComponentChildren;
};

/** A list from the service in all its states: loading, failed, empty, and pages of rows. */
export function Listing<Value, Row>(props: ListingProps<Value, Row>) {
  const { what, data, rowsOf, totalOf, columns, keyOf, empty } = props;
  const { value, failure, isLoading, reload } = data;
  const notice = failure !== undefined && <FailureNotice failure={failure} retry={reload} />;
  if (value === undefined) return notice || <Loading what={what} />;
  const rows = rowsOf(value);
  const total = totalOf?.(value) ?? rows.length;
  const isPastEnd = rows.length === 0 && total > 0 && offsetOf(place.value.query) > 0;
  return (
    <>
      {notice}
      {rows.length === 0 && !isPastEnd ? (
        empty
      ) : (
        <Table caption={what} columns={columns} rows={rows} keyOf={keyOf} isBusy={isLoading} />
      )}
      {totalOf !== undefined && total > 0 && <Pager total={total} shown={rows.length} isBusy={isLoading} />}
    </>
  );
}
