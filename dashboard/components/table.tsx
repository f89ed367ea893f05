import type { ComponentChildren } from "preact";

export type Column<Row> = {
  name: string;
  cell: (row: Row) => ComponentChildren;
  /** What stands in the head instead of the name. */
  head?: ComponentChildren;
  kind?: "main" | "number" | "actions" | "select";
  /** In tables of single lines: as wide as a word, or as "11 months ago". */
  width?: "word" | "time";
};

type TableProps<Row> = {
  /** For screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  isBusy?: boolean;
  /** On wide screens each row is one line; what is too long is cut, and its title says it. */
  isLined?: boolean;
};

/** A table; on narrow screens each row is a block, and each cell names its column. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  isBusy = false,
  isLined = false,
}: TableProps<Row>) {
  return (
    <div class={isLined ? "table-box lined" : "table-box"}>
      <table aria-busy={isBusy}>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, head, kind, width }) => (
              <th key={name} scope="col" class={`${kind ?? ""} ${width ?? ""}`}>
                {head ?? (kind === "actions" ? <span class="hidden">{name}</span> : name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell, kind }) =>
                kind === "main" ? (
                  <th key={name} scope="row" class="main">
                    {cell(row)}
                  </th>
                ) : (
                  <td
                    key={name}
                    class={kind}
                    data-name={kind === undefined || kind === "number" ? name : undefined}
                  >
                    {cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
