/**
 * Finds the e-mail addresses in an exported file: values separated by comma, semicolon or tab, or a plain
 * list. Pure, and linear in the size of the file.
 */

import * as z from "zod/mini";
import { teamName } from "../../access/organizations/organization-schema.ts";
import { Refusal } from "../../contract/errors.ts";
import { unseen } from "../../contract/text.ts";
import { ownerName } from "../emails/email-schema.ts";
import { decode, invalidFile } from "./decode.ts";
import { departureIn } from "./departure.ts";
import { firstHeader, type Header, isAddressLike, isLabel, type NameColumns } from "./header.ts";
import { importedAddress, maximumAddressCharacters, maximumRows } from "./import-schema.ts";
import { recordsOf } from "./records.ts";

/** One entry of the file: an address in lower case, or the text that stands where an address should be. */
export type Candidate = { email: string; ownerName?: string | undefined; team?: string | undefined };

/** `row`: the record that the entry stands in, if its columns are those of the header. */
type Entry = Candidate & { row?: readonly string[] };

/**
 * Headings of a file: of columns that were read, and of those that were not. `withoutAddress`: whose rows
 * have no address.
 */
type Columns = { used: string[]; ignored: string[]; withoutAddress: string[] };

type Reading = { entries: Entry[]; columns: Columns };

/**
 * The addresses of a file, in its order, including repeated and malformed ones, and its columns. Refuses
 * `tooManyAddresses`. Refuses `invalidInput` when the file is not text, holds nothing like an address, or
 * names an impossible team.
 *
 * @param options.today As YYYY-MM-DD: who leaves later has not left.
 * @param options.mostEntries More are refused. Default: as many as one import takes.
 */
export const extract = (
  bytes: Uint8Array,
  { today = new Date().toISOString().slice(0, 10), mostEntries = maximumRows } = {},
): { candidates: Candidate[]; columns: Columns & { departed: Departed[] } } => {
  const text = decode(bytes);
  if (text.trim() === "") throw invalidFile("is empty");
  const records = recordsOf(text);
  const header = firstHeader(records);
  const { entries, columns } = entriesIn(records, header);
  if (entries.length === 0) throw invalidFile("holds no e-mail addresses");
  if (entries.length > mostEntries) throw new Refusal("tooManyAddresses");
  for (const { team } of entries) {
    const problem = z.optional(teamName).safeParse(team).error?.issues[0]?.message;
    if (problem !== undefined) throw invalidFile(`the team "${shorten(team ?? "", 40)}" ${problem}`);
  }
  return {
    candidates: entries.map(({ row, ...candidate }) => candidate),
    columns: { ...columns, departed: departedOf(entries, records, header, today) },
  };
};

/** An address whose rows all say that its person has left: the cell of one, and the heading above it. */
type Departed = { email: string; heading: string; value: string };

/** Who has left and come back has a row that does not say so. */
const departedOf = (
  entries: readonly Entry[],
  records: readonly string[][],
  header: Header | undefined,
  today: string,
): Departed[] => {
  const headings = records[header?.record ?? -1] ?? [];
  const departed = new Map<string, Departed | undefined>();
  for (const { email, row = [] } of entries) {
    const index = departureIn(row, header?.departureColumns ?? [], today);
    const cell = (cells: readonly string[]) => shorten(nameIn(cells[index ?? -1]), maximumHeadingCharacters);
    const isHere = index === undefined || (departed.has(email) && departed.get(email) === undefined);
    departed.set(email, isHere ? undefined : { email, heading: cell(headings), value: cell(row) });
  }
  return [...departed.values()].filter((each) => each !== undefined);
};

const entriesIn = (records: readonly string[][], header: Header | undefined): Reading => {
  const reading = header && inColumns(records, header);
  if (reading !== undefined) return reading;
  const { nameColumns = [], teamColumn = -1, departureColumns = [], unreadColumns = [] } = header ?? {};
  const used = new Set([...nameColumns.flat(), teamColumn, ...departureColumns.map(({ index }) => index)]);
  const below = inAnyCell(records.slice((header?.record ?? -1) + 1), header);
  return {
    entries: below.length > 0 ? below : inAnyCell(records, header),
    columns: {
      used: headingsOf(records, header, (index) => used.has(index)),
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

/**
 * The entries of the columns that are headed like "email", if one holds an address. A row's entry is the
 * address in the best of them, else the text in the best of them. A row that has more cells than the header
 * may be shifted. (In a table with passwords one would be taken for an address.)
 */
const inColumns = (records: readonly string[][], header: Header): Reading | undefined => {
  const rows = records.slice(header.record + 1).filter((cells) => !isExample(cells));
  const withAddresses = columnsWithAddresses(rows);
  const columns = header.addressColumns.filter((index) => withAddresses.has(index)).slice(0, maximumColumns);
  if (columns.length === 0) return undefined;
  const entries: Entry[] = [];
  const withoutAddress: string[] = [];
  for (const cells of rows) {
    const texts = columns.map((index) => (isNote(cells, header) ? "" : (cells[index] ?? "").trim()));
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
    const about = shifted === undefined ? { ...aboutOf(cells, header), row: cells } : {};
    const addresses = addressesInColumn(cell);
    for (const email of addresses.length > 0 ? addresses : [shown(cell)]) entries.push({ email, ...about });
  }
  const { nameColumns, teamColumn, departureColumns } = header;
  const used = new Set([
    ...columns,
    ...nameColumns.flat(),
    teamColumn,
    ...departureColumns.map(({ index }) => index),
  ]);
  return {
    entries,
    columns: {
      used: headingsOf(records, header, (index) => used.has(index)),
      ignored: headingsOf(records, header, (index) => !used.has(index)),
      withoutAddress,
    },
  };
};

/** Templates of directories show how to fill them in by a row that begins with "Example:". */
const isExample = ([first = ""]: readonly string[]): boolean => /^\s*example\s*:/i.test(first);

/** A label and a value stand below a wider table, too: "Totals:,12", "Questions:,hr@demo.example". */
const isNote = (cells: readonly string[], { columnCount }: Header): boolean => {
  const [first = "", ...more] = cells.filter((cell) => cell.trim() !== "");
  return columnCount > 2 && more.length < 2 && isLabel(first);
};

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

const inAnyCell = (records: readonly string[][], header: Header | undefined): Entry[] => {
  const entries: Entry[] = [];
  for (const cells of records) {
    if (!cells.some(isAddressLike) || isExample(cells)) continue;
    const about = header === undefined ? {} : { ...aboutBeside(cells, header), row: cells };
    for (const [index, cell] of cells.entries()) {
      if (header?.unreadColumns.includes(index)) continue;
      for (const email of addressesIn(cell)) entries.push({ email, ...about });
    }
  }
  return entries;
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
 * may be its first half. So everything up to the next separator counts as malformed. (In other cells, where
 * `addressesIn` looks, such a word may be anything.)
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
 * Removes characters around an address: `mailto:jane@a.example?subject=…` or `“jane@a.example”.` A dot in
 * front stays, since `.jane@a.example` is a mistyped address and not punctuation.
 */
const bare = (word: string): string =>
  word
    .replace(/^[^@]*\b(?:mailto|smtp):/i, "")
    .replace(/(?<=@[^?]*)\?.*$/, "")
    // One pattern for both ends: one for the end alone would take quadratic time. Full stops of East Asia end
    // sentences, too.
    .replace(
      /^["'<>\p{Ps}\p{Pe}\p{Pi}\p{Pf}\s\p{Cf}:]*(.*[^"'<>\p{Ps}\p{Pe}\p{Pi}\p{Pf}\s\p{Cf}.:!\u3002\uff0e\uff61]).*$/su,
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

const nameIn = (cell = ""): string => line(cell.slice(0, maximumNameCellCharacters).replace(unseen, ""));

const ownerOf = (cells: readonly string[], alternatives: readonly NameColumns[]): string | undefined => {
  const name = alternatives.map((columns) => nameOf(cells, columns)).find((name) => name !== "") ?? "";
  return ownerName.check(z.minLength(1)).safeParse(shorten(name, maximumNameCharacters)).data;
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
