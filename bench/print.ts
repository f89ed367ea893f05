import type { Cell, Table } from "./arm.ts";

/** A table with its title and notes. */
export const asText = ({ title, notes = [], ...table }: Table): string =>
  [title, "", asMarkdown(table), ...notes.map((note) => `- ${note}`), ""].join("\n");

/** The rows of a table. */
export const asMarkdown = ({ columns, rows }: Pick<Table, "columns" | "rows">): string => {
  const isNumeric = numericColumns(columns, rows);
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  return [
    line(columns.map(escaped)),
    line(columns.map((_, index) => (isNumeric[index] ? "--:" : ":--"))),
    ...rows.map((row) => line(columns.map((_, index) => escaped(shown(row[index] ?? null))))),
    "",
  ].join("\n");
};

/** Dollars are texts, so that they keep their zeros. */
const numericColumns = (columns: readonly string[], rows: readonly Cell[][]): boolean[] =>
  columns.map(
    (_, index) => rows.length > 0 && rows.every((row) => /^[\d.,]*$/.test(String(row[index] ?? ""))),
  );

const shown = (cell: Cell): string => {
  if (cell === null) return "–";
  return typeof cell === "number" ? cell.toLocaleString("en-US", { maximumFractionDigits: 2 }) : cell;
};

const escaped = (text: string): string => text.replaceAll("|", "\\|");
