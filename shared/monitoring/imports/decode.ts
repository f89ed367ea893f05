/** The text of a file that somebody uploads. */
import { Refusal } from "../../contract/errors.ts";

export const invalidFile = (problem: string): Refusal =>
  new Refusal("invalidInput", { error: `file: ${problem}` });

/**
 * Unicode as UTF-8 with or without BOM or as UTF-16 with BOM, else Windows-1252, in which Excel often saves
 * CSV. Lines that end as in Excel's "CSV (Macintosh)" mean Mac OS Roman. Refuses `invalidInput` when the file
 * is no text, or has vCards.
 */
export const decode = (bytes: Uint8Array): string => {
  if (workbooks.some((start) => start.every((byte, index) => bytes[index] === byte))) {
    throw invalidFile("is not a text file, but a workbook: save it as CSV UTF-8");
  }
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  const text =
    decodeAs(encoding, bytes) ?? (encoding === "utf-8" ? legacyOf(bytes).decode(bytes) : undefined);
  if (text?.includes("\0") !== false) throw invalidFile("is not a text file");
  if (/^\s*BEGIN:VCARD/i.test(text)) throw invalidFile("holds vCards: export the contacts as CSV");
  return text
    .replaceAll("\ufffd", damaged)
    .replace(betweenDelimiters, (part) => decodedTwice(part) ?? part)
    .replace(control, (character) => readableControl(character));
};

const decodeAs = (encoding: string, bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

/**
 * How files of Excel begin: a zip archive since 2007 (also LibreOffice's and Numbers'), before that an OLE document.
 */
const workbooks = [
  [0x50, 0x4b, 0x03, 0x04],
  [0xd0, 0xcf, 0x11, 0xe0],
];

const windows1252 = new TextDecoder("windows-1252");
const macRoman = new TextDecoder("macintosh");

/** In place of U+FFFD, which the request that commits the import could not have. It keeps an address malformed. */
const damaged = "□";

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

const legacyOf = (bytes: Uint8Array): typeof macRoman =>
  bytes.includes(carriageReturn) && !bytes.includes(lineFeed) ? macRoman : windows1252;

/** Roughly a cell. Files that were put together mix texts with and without damage. */
const betweenDelimiters = /[^\r\n\t,;"]+/g;

/** Characters that stand for a byte when Windows-1252 or ISO 8859-1 is read. */
const byteOf = new Map(
  Array.from({ length: 256 }, (_, byte) => byte).flatMap((byte): [string, number][] => [
    [String.fromCharCode(byte), byte],
    [windows1252.decode(Uint8Array.of(byte)), byte],
  ]),
);

/**
 * The text behind UTF-8 that was read as Windows-1252 or ISO 8859-1 ("GroÃŸmann"). Undefined: it is not such a text.
 */
const decodedTwice = (text: string): string | undefined => {
  if (!/[^\0-\x7f]/.test(text)) return undefined;
  const bytes = Array.from(text, (character) => byteOf.get(character));
  return bytes.every((byte) => byte !== undefined) ? decodeAs("utf-8", Uint8Array.from(bytes)) : undefined;
};

/** Control characters other than line ends, page breaks and tabs. */
const control = /[^\P{Cc}\t\n\v\f\r\u0085]/gu;

/**
 * U+0080 to U+009F are what punctuation of Windows-1252 becomes when a program takes it for ISO 8859-1. Other
 * control characters say nothing.
 */
const readableControl = (character: string): string => {
  const code = character.charCodeAt(0);
  return code < 0x80 ? "" : windows1252.decode(Uint8Array.of(code)).replace(control, "");
};
