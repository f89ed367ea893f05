/**
 * Finds the e-mail addresses in an exported file: values separated by comma, semicolon or tab, or a plain
 * list. Pure, and linear in the size of the file.
 */

import { type CsvError, parse } from "csv-parse/sync";
import * as z from "zod/mini";
import { teamName } from "../../access/organizations/organization-schema.ts";
import { Refusal } from "../../contract/errors.ts";
import { ownerName } from "../emails/email-schema.ts";
import { decode, invalidFile } from "./decode.ts";
import { firstHeader, type Header, isAddressLike, type NameColumns } from "./header.ts";
import { importedAddress, maximumAddressCharacters, maximumRows } from "./import-schema.ts";

/** One entry of the file: an address in lower case, or the text that stands where an address should be. */
export type Candidate = { email: string; ownerName?: string | undefined; team?: string | undefined };

/** Headings of a file: of columns that were read, and of those that were not. `withoutAddress`: whose rows have no address. */
export type Columns = { used: string[]; ignored: string[]; withoutAddress: string[] };

type Reading = { found: Candidate[]; columns: Columns };

/**
 * The addresses of a file, in its order, including repeated and malformed ones, and its columns. Refuses `invalidInput` when
 * the file is not text, holds nothing like an address or a team whose name no team can have, and `tooManyAddresses`.
 */
export const extract = (bytes: Uint8Array): Reading => {
  const text = decode(bytes);
  if (text.trim() === "") throw invalidFile("is empty");
  const { found, columns } = entriesIn(recordsOf(text));
  if (found.length === 0) throw invalidFile("holds no e-mail addresses");
  for (const { team } of found) {
    const problem = z.optional(teamName).safeParse(team).error?.issues[0]?.message;
    if (problem !== undefined) throw invalidFile(`the team "${shorten(team ?? "", 40)}" ${problem}`);
  }
  return { found, columns };
};

const entriesIn = (records: readonly string[][]): Reading => {
  const header = firstHeader(records);
  const reading = header && inColumns(records, header);
  if (reading !== undefined) return reading;
  const { nameColumns = [], teamColumn = -1, unreadColumns = [] } = header ?? {};
  return {
    found: inAnyCell(records, header),
    columns: {
      used: headingsOf(
        records,
        header,
        (index) => nameColumns.flat().includes(index) || index === teamColumn,
      ),
      ignored: headingsOf(records, header, (index) => unreadColumns.includes(index)),
      withoutAddress: [],
    },
  };
};

const maximumHeadings = 100;
const maximumHeadingCharacters = 100;

const headingsOf = (
  records: readonly string[][],
  header: Header | undefined,
  isWanted: (index: number) => boolean,
): string[] =>
  (records[header?.record ?? -1] ?? [])
    .filter((heading, index) => heading.trim() !== "" && isWanted(index))
    .slice(0, maximumHeadings)
    .map((heading) => shorten(nameIn(heading), maximumHeadingCharacters));

const lineEnds = ["\r\n", "\n", "\r"];

/** The records by the quotes of the file. Records that a stray quote has joined are read again without quotes. */
const recordsOf = (text: string): string[][] => {
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

/** Whether a record has as many delimiters and lines in its cells as if a stray quote had swallowed other cells. */
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
 * The text without its empty rows, and without the quotes at the edges of cells in lines whose quotes are not all around cells,
 * or around the line. No cell of it spans lines.
 */
const withoutStrayQuotes = (text: string): string =>
  text.replace(/[^\r\n]+/g, (line) => {
    if (/^[,;\s]*$/.test(line)) return "";
    const rest = line.replace(quotedCells, "");
    return rest === "" || rest.includes('"') ? line.replace(quotesAroundCells, "") : line;
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
      cast: (cell) => unguarded(unquote(cell)),
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

/** The cell without the mark by which exports keep spreadsheets from calculating it (https://owasp.org/www-community/attacks/CSV_Injection). */
const unguarded = (cell: string): string => cell.replace(/^['\t](?=[-+=@])/, "");

const delimiters = [",", ";", "\t"];

/** Lines in which the delimiter is looked for. */
const maximumLines = 20;

/**
 * The delimiter that makes one of the first lines read best as a header. Without a header any delimiter will
 * do, since addresses contain none.
 */
const delimiterOf = (text: string): string => {
  const lines: string[] = [];
  for (const [line] of text.matchAll(/[^\r\n]+/g)) {
    if (line.trim() !== "") lines.push(line);
    if (lines.length === maximumLines) break;
  }
  const readings = delimiters.flatMap((delimiter) => {
    const header = firstHeader(lines.map((line) => line.split(delimiter)));
    return header === undefined ? [] : [{ delimiter, ...header }];
  });
  readings.sort((a, b) => a.rank - b.rank || b.columnCount - a.columnCount);
  return readings[0]?.delimiter ?? ",";
};

/**
 * The entries of the columns that are headed like "email", if one holds an address. A row's entry is the address in the
 * best of them, else the text in the best of them. A row that has more cells than the header may be shifted. (In a table
 * with passwords one would be taken for an address.)
 */
const inColumns = (records: readonly string[][], header: Header): Reading | undefined => {
  const rows = records.slice(header.record + 1).filter((cells) => !isExample(cells));
  const withAddresses = columnsWithAddresses(rows);
  const columns = header.addressColumns.filter((index) => withAddresses.has(index)).slice(0, maximumColumns);
  if (columns.length === 0) return undefined;
  const found: Candidate[] = [];
  const withoutAddress: string[] = [];
  for (const cells of rows) {
    const texts = columns.map((index) => (cells[index] ?? "").trim());
    const inColumn = texts.find(isAddressLike);
    const mayBeShifted = cells.length > header.columnCount && header.passwordColumns.length === 0;
    const shifted = inColumn === undefined && mayBeShifted ? cells.find(isAddressLike) : undefined;
    const cell = inColumn ?? shifted ?? texts[0] ?? "";
    if (cell === "") {
      const who = ownerOf(cells, header.nameColumns) ?? nameIn(cells.find((each) => each.trim() !== ""));
      if (who !== "" && withoutAddress.length < maximumRows)
        withoutAddress.push(shorten(who, maximumHeadingCharacters));
      continue;
    }
    const about = shifted === undefined ? aboutOf(cells, header) : {};
    const addresses = addressesInColumn(cell);
    for (const email of addresses.length > 0 ? addresses : [shown(cell)]) add(found, { email, ...about });
  }
  const used = new Set([...columns, ...header.nameColumns.flat(), header.teamColumn]);
  return {
    found,
    columns: {
      used: headingsOf(records, header, (index) => used.has(index)),
      ignored: headingsOf(records, header, (index) => !used.has(index)),
      withoutAddress,
    },
  };
};

/** Templates of directories show how to fill them in by a row that begins with "Example:". */
const isExample = ([first = ""]: readonly string[]): boolean => /^\s*example\s*:/i.test(first);

/** Columns that a row's address is looked for in. Bounds the time, since a file may have as many columns as rows. */
const maximumColumns = 20;

/** Goes through the rows once for all columns, since a file may have as many columns as rows. */
const columnsWithAddresses = (rows: readonly string[][]): Set<number> => {
  const columns = new Set<number>();
  for (const cells of rows) {
    for (const [index, cell] of cells.entries()) if (isAddressLike(cell)) columns.add(index);
  }
  return columns;
};

const inAnyCell = (records: readonly string[][], header: Header | undefined): Candidate[] => {
  const found: Candidate[] = [];
  for (const cells of records) {
    if (!cells.some(isAddressLike) || isExample(cells)) continue;
    const about = header === undefined ? {} : aboutBeside(cells, header);
    for (const [index, cell] of cells.entries()) {
      if (header?.unreadColumns.includes(index)) continue;
      for (const email of addressesIn(cell)) add(found, { email, ...about });
    }
  }
  return found;
};

const add = (found: Candidate[], candidate: Candidate): void => {
  if (found.length === maximumRows) throw new Refusal("tooManyAddresses");
  found.push(candidate);
};

/**
 * Splits `"Doe, Jane" <jane@a.example>; …` into words: at white space, separators, the markup of links, and
 * before an address in angle brackets. Other brackets, quotes and no-break spaces do not split: within a word
 * they belong to a malformed address, and splitting `o’neil@a.example` there would give the address of
 * another person.
 */
const between = /(?:[ \t-\r\u0085\u2028\u2029\u3000,;|]|["']>|<\/)+|(?=<[^<>@]*@[^<>]*>)/;

/** No address is longer, with all that may be written around it. Bounds the time that the patterns take. */
const maximumWordCharacters = 1000;

/** The addresses in a cell, and the words in it that only look like one. */
const addressesIn = (cell: string): string[] => {
  if (!isAddressLike(cell)) return [];
  return cell
    .split(between)
    .filter(isAddressLike)
    .map((word) => {
      const address = word.length <= maximumWordCharacters && importedAddress.safeParse(bare(word)).data;
      const text = shown(word);
      // The commit reads the text again, and `}@a.example` is an address.
      return address || (importedAddress.safeParse(text).data ?? text);
    });
};

/**
 * The addresses in a cell of the address column. A word before a bare address, as in `jane doe@a.example`,
 * may be the first half of it, so that everything up to the next separator counts as malformed. (In other
 * cells, where `addressesIn` looks, such a word may be anything.)
 */
const addressesInColumn = (cell: string): string[] =>
  cell.split(separator).flatMap((item) => {
    const words = item.split(between).filter((word) => word !== "");
    const isBroken = words.some((word, index) => isBareAddress.test(word) && isWord(words[index - 1] ?? ""));
    return isBroken ? [shown(item)] : addressesIn(item);
  });

const separator = /[,;|\n\v\f\r\u0085\u2028\u2029]/;

/** An address whose beginning is not marked by a quote, a bracket or a scheme such as `mailto:`. */
const isBareAddress = /^(?!["'<\p{Ps}\p{Pi}\p{Pf}])[^:@]*@/u;

const isWord = (text: string): boolean => !isAddressLike(text) && /\p{Letter}/u.test(text);

/**
 * Removes what is written around an address: `mailto:jane@a.example?subject=…` or `“jane@a.example”.` A dot in
 * front stays, since `.jane@a.example` is a mistyped address and not punctuation.
 */
const bare = (word: string): string =>
  word
    .replace(/^[^@]*\b(?:mailto|smtp):/i, "")
    .replace(/(?<=@[^?]*)\?.*$/, "")
    // One pattern for both ends: one for the end alone would take quadratic time.
    .replace(
      /^["'<>\p{Ps}\p{Pe}\p{Pi}\p{Pf}\s\p{Cf}:]*(.*[^"'<>\p{Ps}\p{Pe}\p{Pi}\p{Pf}\s\p{Cf}.:!]).*$/su,
      "$1",
    );

/** The text on one line, with single spaces. */
const line = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, " ").trim();

/** A malformed entry, shortened to what a row can hold. The ellipsis keeps it malformed. */
const shown = (text: string): string => shorten(line(text), maximumAddressCharacters);

/** Counts Unicode characters, as shared/contract/text.ts does: one takes at most two units of a string. */
const shorten = (text: string, maximum: number): string => {
  const characters = [...text.slice(0, 2 * (maximum + 1))];
  return characters.length <= maximum ? text : `${characters.slice(0, maximum - 1).join("")}…`;
};

const maximumNameCharacters = 200;

/** With white space, which `line` shortens. Bounds the time that the patterns take. */
const maximumNameCellCharacters = 2000;

const nameIn = (cell = ""): string => line(cell.slice(0, maximumNameCellCharacters));

const ownerOf = (cells: readonly string[], alternatives: readonly NameColumns[]): string | undefined => {
  const found = alternatives.map((columns) => nameOf(cells, columns)).find((name) => name !== "") ?? "";
  return ownerName.check(z.minLength(1)).safeParse(shorten(found, maximumNameCharacters)).data;
};

const nameOf = (cells: readonly string[], columns: NameColumns): string => {
  // A number is an employee's, or a quantity: in French, "Nombre" heads no names.
  const [first = "", ...rest] = columns.map((column) => nameIn(cells[column]).replace(/^\d+$/, ""));
  // "Name" beside "Given name" is the family name in some tables, and the whole name in others.
  return rest.some((other) => other.startsWith(first)) ? rest.join(" ") : line([first, ...rest].join(" "));
};

/** Whose address it is: the owner's name and team. */
const aboutOf = (cells: readonly string[], header: Header): Omit<Candidate, "email"> => {
  const owner = ownerOf(cells, header.nameColumns);
  const team = header.teamColumn === undefined ? "" : nameIn(cells[header.teamColumn]);
  return { ...(owner !== undefined && { ownerName: owner }), ...(team !== "" && { team }) };
};

/** Without what stands in a cell that holds an address, as in a list of addresses that is headed "Name". */
const aboutBeside = (cells: readonly string[], header: Header): Omit<Candidate, "email"> => {
  const { ownerName, team } = aboutOf(cells, header);
  const holdsAddress = (column: number) => isAddressLike(cells[column] ?? "");
  return {
    ...(ownerName !== undefined && !header.nameColumns.flat().some(holdsAddress) && { ownerName }),
    ...(team !== undefined && !holdsAddress(header.teamColumn ?? -1) && { team }),
  };
};
