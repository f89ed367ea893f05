/** Comma-separated values (RFC 4180) that are safe to open in spreadsheets. */

/**
 * What a spreadsheet takes for the beginning of a formula, at the beginning of a cell. Quotes mean nothing to
 * a spreadsheet with another separator. For it, a cell also begins behind a semicolon, a tab or a line end.
 * Characters that it ignores may stand in front; signs may have the widths of East Asia.
 */
const formulas = new RegExp(
  "(?<=^|[;\\t\\n\\v\\f\\r\\u0085\\u2028\\u2029])" +
    '(?=[\\s"\\u2800\\p{C}\\p{Default_Ignorable_Code_Point}]*[=+\\-@\\u2212＝＋－＠﹦﹢﹣﹫]|^[\\t\\n\\r])',
  "gu",
);

/** One cell. An apostrophe makes a spreadsheet show the text behind it as it is. */
export function csvCell(value: string | number | boolean | null): string {
  const text = value === null ? "" : String(value);
  const safe = text.replace(formulas, "'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}
