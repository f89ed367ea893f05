import type { ComponentChildren } from "preact";
import { useMemo, useRef } from "preact/hooks";
import { Button } from "./button.tsx";

export type Column<Row> = {
  name: string;
  /**
   * What it shows. Hundreds are drawn at once: what needs no hook is called here as a function, since each
   * component takes time.
   */
  cell: (row: Row) => ComponentChildren;
  /** What stands in the head instead of the name. */
  head?: ComponentChildren;
  kind?: "main" | "number" | "actions" | "select";
  /** Left out on phones: the page or the dialogs of the row have it. */
  isMinor?: boolean;
  /**
   * On wide screens: as wide as a word, as "11 months ago", a name, an address, a breach's title, or five
   * buttons. "rest": the remaining width.
   */
  width?: "word" | "time" | "name" | "address" | "title" | "wide" | "rest";
};

/** Rows are told apart by their ids. */
export type Keyed = { id: string | number };

type RowAction = { name: string; act: () => void; isOff?: boolean };

/** The buttons of a row. `about` tells screen readers which row it is. */
export const actionsColumn = <Row,>(
  actionsOf: (row: Row) => readonly RowAction[],
  about?: (row: Row) => string,
  width?: Column<Row>["width"],
): Column<Row> => ({
  name: "Actions",
  kind: "actions",
  ...(width && { width }),
  // Without keys: a button whose name changes with its row keeps the focus.
  cell: (row) =>
    actionsOf(row).map(({ name, act, isOff = false }) => (
      <Button kind="quiet" disabled={isOff} onClick={act} {...(about && { "aria-description": about(row) })}>
        {name}
      </Button>
    )),
});

type TableProps<Row> = {
  /** For screen readers. */
  caption: string;
  /** Others draw the rows anew; what their cells show of signals has to be read where they are made. */
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  isBusy?: boolean;
};

/** What is too long for its cell is cut on wide screens, and shown where people point at it. */
function showWhole({ target }: { target: EventTarget | null }): void {
  const cell = target instanceof Element ? target.closest<HTMLElement>("td, th") : null;
  if (cell === null) return;
  const isCut = [cell, ...cell.querySelectorAll("*")].some((each) => each.scrollWidth > each.clientWidth);
  cell.title = isCut ? cell.innerText : "";
}

/** A table: each row is one line, and on narrow screens two. */
export function Table<Row extends Keyed>({ caption, columns, rows, isBusy = false }: TableProps<Row>) {
  const before = useRef<{ keys: ReadonlySet<string | number>; page: number }>({ keys: new Set(), page: 0 });
  // Rows are drawn once for what they list, and not again while others load.
  const body = useMemo(() => {
    // Another page comes as a whole: one change of the document instead of one for each row.
    const isOther = !rows.some((row) => before.current.keys.has(row.id));
    const page = before.current.page + (isOther ? 1 : 0);
    before.current = { keys: new Set(rows.map(({ id }) => id)), page };
    return (
      <tbody key={page}>
        {rows.map((row) => (
          <tr key={row.id}>
            {columns.map(({ name, cell, kind, isMinor }) =>
              kind === "main" ? (
                <th key={name} scope="row" class="main">
                  {cell(row)}
                </th>
              ) : (
                <td
                  key={name}
                  class={isMinor === true ? `${kind ?? ""} minor` : kind}
                  data-name={kind === undefined || kind === "number" ? name : undefined}
                >
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    );
  }, [rows, columns]);
  return (
    <div class="table-box">
      <table aria-busy={isBusy} onPointerOver={showWhole}>
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
        {body}
      </table>
    </div>
  );
}
