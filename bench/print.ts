import type { Cell, Table } from "./arm.ts";

/** A table for a terminal: text is aligned left, numbers right. */
export const asText = ({ title, columns, rows, notes = [] }: Table): string => {
  const cells = [columns, ...rows.map((row) => columns.map((_, index) => shown(row[index] ?? null)))];
  const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index]?.length ?? 0)));
  const isNumeric = numericColumns(columns, rows);
  const lines = cells.map((row) =>
    row
      .map((cell, index) =>
        isNumeric[index] ? cell.padStart(widths[index] ?? 0) : cell.padEnd(widths[index] ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [title, "", lines[0], rule, ...lines.slice(1), ...notes.map((note) => `  ${note}`), ""].join("\n");
};

/** The rows of a table for a document. */
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

export const shown = (cell: Cell): string => {
  if (cell === null) return "–";
  return typeof cell === "number" ? cell.toLocaleString("en-US", { maximumFractionDigits: 2 }) : cell;
};

const escaped = (text: string): string => text.replaceAll("|", "\\|");
