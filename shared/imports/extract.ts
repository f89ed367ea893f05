/**
 * Finds the e-mail addresses in a file that people exported somewhere: comma, semicolon or tab separated values, or a
 * list. Pure, and linear in the size of the file.
 */

import { type CsvError, parse } from "csv-parse/sync";
import * as z from "zod/mini";
import { Refusal } from "../api/errors.ts";
import { ownerName } from "../emails/schema.ts";
import { firstHeader, type Header, type NameColumns } from "./header.ts";
import { importedAddress, maximumAddressCharacters, maximumRows } from "./schema.ts";

/** What may be an address: lower-cased if it is one, else what the file says in its place. */
export type Candidate = { email: string; ownerName?: string | undefined };

/**
 * The addresses of a file, in its order, repeated and malformed ones too. Refuses `invalidInput` when it is not text, not
 * well-formed or without anything like an address, and `tooManyAddresses`.
 */
export const extract = (bytes: Uint8Array): Candidate[] => {
  const text = decode(bytes);
  if (text.trim() === "") throw invalidFile("is empty");
  const records = recordsOf(text);
  const header = headerOf(records);
  const found = (header && inColumn(records, header)) ?? inAnyCell(records, header?.names ?? []);
  if (found.length === 0) throw invalidFile("holds no e-mail addresses");
  return found;
};

const invalidFile = (problem: string): Refusal => new Refusal("invalidInput", { error: `file: ${problem}` });

/** UTF-8 with or without BOM, UTF-16 with BOM. */
const decode = (bytes: Uint8Array): string => {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  let text: string;
  try {
    text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw invalidFile("is not text in UTF-8, or in UTF-16 with a byte order mark");
  }
  if (notText.test(text)) throw invalidFile("is not a text file");
  return text;
};

/** Control characters other than those of lines, pages and tabs. */
const notText = /[^\P{Cc}\t\n\v\f\r\u0085]/u;

const lineEnds = ["\r\n", "\n", "\r"];

const recordsOf = (text: string): string[][] => {
  try {
    return parse(text, {
      delimiter: delimiterOf(text),
      record_delimiter: lineEnds,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    });
  } catch (error) {
    // Reading on regardless would lose every address behind it without a word.
    if ((error as CsvError).code === "CSV_QUOTE_NOT_CLOSED") {
      throw invalidFile("has a quoted field that never ends");
    }
    throw error;
  }
};

const delimiters = [",", ";", "\t"];

/**
 * The delimiter with which a line in front of the addresses reads best as a header. Without a header it does not matter:
 * addresses hold none of the three.
 */
const delimiterOf = (text: string): string => {
  const [beforeAddresses = ""] = text.split("@", 1);
  const lines = beforeAddresses.split(/\r\n|\n|\r/).filter((line) => line.trim() !== "");
  const readings = delimiters.flatMap((delimiter) => {
    const header = firstHeader(lines.map((line) => line.split(delimiter)));
    return header === undefined ? [] : [{ delimiter, ...header }];
  });
  readings.sort((a, b) => a.rank - b.rank || b.width - a.width);
  return readings[0]?.delimiter ?? ",";
};

/** The header in front of the addresses. */
const headerOf = (records: readonly string[][]): Header | undefined => {
  const firstAddress = records.findIndex((cells) => cells.some(isAddressLike));
  return firstHeader(firstAddress < 0 ? records : records.slice(0, firstAddress));
};

/** What the best column that is headed like "email" holds, if there is one with an address. */
const inColumn = (records: readonly string[][], header: Header): Candidate[] | undefined => {
  const rows = records.slice(header.record + 1);
  const holding = columnsOf(rows);
  const column = header.columns.find(({ index }) => holding.has(index));
  if (column === undefined) return undefined;
  const found: Candidate[] = [];
  for (const cells of rows) {
    const cell = (cells[column.index] ?? "").trim();
    if (cell === "") continue;
    const owner = ownerOf(cells, header.names);
    const addresses = addressesInColumn(cell);
    for (const email of addresses.length > 0 ? addresses : [shown(cell)]) add(found, email, owner);
  }
  return found;
};

/** Those that hold an address somewhere. All at once: a file may have as many columns as rows. */
const columnsOf = (rows: readonly string[][]): Set<number> => {
  const holding = new Set<number>();
  for (const cells of rows) {
    for (const [index, cell] of cells.entries()) if (isAddressLike(cell)) holding.add(index);
  }
  return holding;
};

const inAnyCell = (records: readonly string[][], names: NameColumns): Candidate[] => {
  const found: Candidate[] = [];
  for (const cells of records) {
    if (!cells.some(isAddressLike)) continue;
    const owner = ownerBeside(cells, names);
    for (const cell of cells) {
      for (const email of addressesIn(cell)) add(found, email, owner);
    }
  }
  return found;
};

const add = (found: Candidate[], email: string, owner: string | undefined): void => {
  if (found.length === maximumRows) throw new Refusal("tooManyAddresses");
  found.push({ email, ...(owner !== undefined && { ownerName: owner }) });
};

const isAddressLike = (cell: string): boolean => cell.includes("@");

/**
 * What lies between addresses, as in `"Doe, Jane" <jane@a.example>; …`: white space, separators, a link's markup, and nothing
 * in front of an address in angle brackets. Not other brackets, quotes and spaces that do not break: within a word they are
 * part of a malformed address, and splitting there would make `o’neil@a.example` the address of someone else.
 */
const between = /(?:[ \t-\r\u0085\u2028\u2029\u3000,;|]|["']>|<\/)+|(?=<[^<>@]*@[^<>]*>)/;

/** An address with what is written around it is never longer; it bounds the time that patterns take. */
const maximumPartCharacters = 1000;

/** The addresses in a cell, and what looks like one. */
const addressesIn = (cell: string): string[] => {
  if (!isAddressLike(cell)) return [];
  return cell
    .split(between)
    .filter(isAddressLike)
    .map((part) => {
      const address = part.length <= maximumPartCharacters && importedAddress.safeParse(bare(part)).data;
      return address || shown(part);
    });
};

/**
 * As `addressesIn`, of a cell that should hold addresses alone: where a word leads to a bare one, as in `jane doe@a.example`, it
 * may be the first part of it, so that all up to the next separator is malformed. In other cells it may be anything.
 */
const addressesInColumn = (cell: string): string[] =>
  cell.split(separator).flatMap((item) => {
    const words = item.split(between).filter((word) => word !== "");
    const isBroken = words.some((word, index) => isBareAddress.test(word) && isWord(words[index - 1] ?? ""));
    return isBroken ? [shown(item)] : addressesIn(item);
  });

const separator = /[,;|\n\v\f\r\u0085\u2028\u2029]/;

/** Neither a quote or bracket nor a scheme says where it begins. */
const isBareAddress = /^(?!["'<\p{Ps}\p{Pi}\p{Pf}])[^:@]*@/u;

const isWord = (text: string): boolean => !isAddressLike(text) && /\p{Letter}/u.test(text);

/** Without what is written around an address: `mailto:jane@a.example?subject=…`, `“jane@a.example”`, a full stop. */
const bare = (part: string): string =>
  part
    .replace(/^[^@]*\b(?:mailto|smtp):/i, "")
    .replace(/(?<=@[^?]*)\?.*$/, "")
    // One pattern, since one for the end alone would begin anew at every character that may be the end's.
    .replace(
      /^["'<>\p{Ps}\p{Pe}\p{Pi}\p{Pf}\s\p{Cf}.:]*(.*[^"'<>\p{Ps}\p{Pe}\p{Pi}\p{Pf}\s\p{Cf}.:!]).*$/su,
      "$1",
    );

/** Of a person: one line. */
const line = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, " ").trim();

/** As much of a malformed address as a row can hold; the ellipsis keeps it malformed. */
const shown = (text: string): string => shorten(line(text), maximumAddressCharacters);

/** Characters are counted as `text` of shared/api/text.ts does; so many take at most twice as many units of a string. */
const shorten = (text: string, maximum: number): string => {
  const characters = [...text.slice(0, 2 * (maximum + 1))];
  return characters.length <= maximum ? text : `${characters.slice(0, maximum - 1).join("")}…`;
};

const maximumNameCharacters = 200;

/** White space included, which becomes less; it bounds the time that patterns take. */
const maximumNameCellCharacters = 2000;

const ownerOf = (cells: readonly string[], names: NameColumns): string | undefined => {
  const name = line(
    names.map((column) => (cells[column] ?? "").slice(0, maximumNameCellCharacters)).join(" "),
  );
  return ownerName.check(z.minLength(1)).safeParse(shorten(name, maximumNameCharacters)).data;
};

/** The owner, unless an address is where the name should be: as in a list of people that is headed "Name". */
const ownerBeside = (cells: readonly string[], names: NameColumns): string | undefined =>
  names.some((column) => isAddressLike(cells[column] ?? "")) ? undefined : ownerOf(cells, names);
