/** The records of a text, and their cells: values separated by comma, semicolon or tab, or a plain list. */
import { type CsvError, parse } from "csv-parse/sync";
import { firstHeader, isAddressLike, maximumRecordsBefore } from "./header.ts";
import { importedAddress, maximumRows } from "./import-schema.ts";
import { isPlaceholder } from "./placeholder.ts";

const lineEnds = ["\r\n", "\n", "\r"];

/** The records by the quotes of the file. Records that a stray quote has joined are read again without quotes. */
export const recordsOf = (text: string): string[][] => {
  const delimiter = delimiterOf(text);
  const withoutStray = (part: string): string[][] => parsed(withoutStrayQuotes(part), delimiter);
  const whole = parsedIfClosed(text, delimiter) ?? withoutStray(text);
  // Spreadsheets that took a table for a single column quote each line as a whole.
  const areLines = whole[0]?.[0]?.includes(delimiter) && whole.every(({ length }) => length === 1);
  const records = areLines ? withoutStray(whole.join("\n")) : whole;
  const width = firstHeader(records)?.columnCount ?? records[0]?.length ?? 0;
  let tries = maximumRows;
  return records.flatMap((cells) => {
    if (!isAsIfOfSeveral(cells, width, delimiter) || tries-- <= 0) return [cells];
    const apart = withoutStray(cells.map(rewritten).join(delimiter));
    return withAddress(apart) > withAddress([cells]) ? apart : [cells];
  });
};

/** A cell as it stands in a file, less the stray quote around what it may hold. */
const rewritten = (cell: string): string =>
  /[,;\t]/.test(cell) && !mayHoldCells(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;

/**
 * Whether a record has so many delimiters and lines in its cells that a stray quote may have swallowed cells.
 */
const isAsIfOfSeveral = (cells: readonly string[], width: number, delimiter: string): boolean => {
  if (width < 2 || !cells.some(mayHoldCells)) return false;
  const text = cells.join(delimiter);
  const lines = text.split(/\r\n?|\n/).length;
  return (lines > 1 || cells.length < width) && text.split(delimiter).length > lines * (width - 1);
};

/** Whether a cell spans lines, or has one address beside a delimiter. */
const mayHoldCells = (cell: string): boolean =>
  /[\r\n]/.test(cell) || (/^[^@]*@[^@]*$/.test(cell) && /[,;\t]/.test(cell));

const isAddress = (cell: string): boolean =>
  isAddressLike(cell) && !mayHoldCells(cell) && importedAddress.safeParse(cell).success;

const withAddress = (records: readonly string[][]): number =>
  records.filter((cells) => cells.some(isAddress)).length;

const quotedCells = /(?<=^|[,;\t])=?"(?:[^"]|"")*"(?=[,;\t]|$)/g;
const quotesAroundCells = /(?<=^|[,;\t])=?"+|"+(?=[,;\t]|$)/g;

/**
 * The text without its empty rows. Where a line's quotes are not all around cells or the line, quotes at the
 * edges of cells go. No cell of it spans lines.
 */
const withoutStrayQuotes = (text: string): string =>
  text.replace(/[^\r\n]+/g, (line) => {
    if (/^[,;\s]*$/.test(line)) return "";
    const unquoted = line.replace(quotedCells, "");
    return unquoted === "" || unquoted.includes('"') ? line.replace(quotesAroundCells, "") : line;
  });

/** Undefined if a quoted cell never ends, which would hold every address behind its quote. */
const parsedIfClosed = (text: string, delimiter: string): string[][] | undefined => {
  try {
    return parsed(text, delimiter);
  } catch (error) {
    if ((error as CsvError).code === "CSV_QUOTE_NOT_CLOSED") return undefined;
    throw error;
  }
};

const irregularQuotes: string[] = ["CSV_INVALID_CLOSING_QUOTE", "INVALID_OPENING_QUOTE"];

const parsed = (text: string, delimiter: string): string[][] => {
  // `="text"` at the beginning of a cell, by which spreadsheets keep the text as it is, becomes a quoted cell.
  const quoted = text.replace(/(?<=^|[,;\t])="/gm, '"');
  const read = (unquote: (cell: string) => string, isStrict: boolean): string[][] =>
    parse(quoted, {
      cast: (cell) => textOf(unguarded(unquote(cell))),
      delimiter,
      record_delimiter: lineEnds,
      relax_column_count: true,
      relax_quotes: !isStrict,
      skip_empty_lines: true,
    });
  try {
    return read((cell) => inner(cell, /^=".*"$/s), true);
  } catch (error) {
    if (!irregularQuotes.includes((error as CsvError).code)) throw error;
    // Inner quotes are not doubled. The parser leaves such cells as they stand, with the quotes around them.
    return read((cell) => inner(cell, /^=".*"$|^"[^"]*".*"$/s), false);
  }
};

/** What is between the quotes of a cell that has this form, else the cell. */
const inner = (cell: string, form: RegExp): string =>
  form.test(cell) ? cell.replace(/^=?"|"$/g, "").replaceAll('\\"', '"') : cell;

/**
 * The cell without the mark by which exports keep spreadsheets from calculating it
 * (https://owasp.org/www-community/attacks/CSV_Injection).
 */
const unguarded = (cell: string): string => cell.replace(/^['\t](?=[-+=@])/, "");

const textOf = (cell: string): string => (isPlaceholder(cell) ? "" : cell);

const delimiters = [",", ";", "\t"];

/**
 * The delimiter that makes one of the first lines read best as a header. Without a header any delimiter will
 * do, since addresses contain none.
 */
const delimiterOf = (text: string): string => {
  const lines: string[] = [];
  for (const [line] of text.matchAll(/[^\r\n]+/g)) {
    if (line.trim() !== "") lines.push(line);
    if (lines.length === maximumRecordsBefore) break;
  }
  const readings = delimiters.flatMap((delimiter) => {
    const header = firstHeader(lines.map((line) => line.split(delimiter)));
    return header === undefined ? [] : [{ delimiter, ...header }];
  });
  readings.sort((a, b) => a.rank - b.rank || b.columnCount - a.columnCount);
  return readings[0]?.delimiter ?? ",";
};
