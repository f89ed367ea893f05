/** Comma-separated values (RFC 4180) that are safe to open in spreadsheets. */

/** Spreadsheets take a cell that begins so for a formula. */
const beginsLikeFormula = /^[=+\-@\t\r]/;

/** One cell. A leading apostrophe makes a spreadsheet show the text as it is. */
export function csvCell(value: string | number | boolean | null): string {
  const text = value === null ? "" : String(value);
  const safe = beginsLikeFormula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}
