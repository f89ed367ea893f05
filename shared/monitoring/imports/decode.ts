/** The text of a file that somebody uploads. */
import { Refusal } from "../../contract/errors.ts";

export const invalidFile = (problem: string): Refusal =>
  new Refusal("invalidInput", { error: `file: ${problem}` });

/**
 * Unicode as UTF-8 with or without BOM or as UTF-16 with BOM, else Windows-1252, in which Excel saves CSV on
 * many machines.
 */
export const decode = (bytes: Uint8Array): string => {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  const text = decodeAs(encoding, bytes) ?? (encoding === "utf-8" ? windows1252.decode(bytes) : undefined);
  if (text?.includes("\0") !== false) throw invalidFile("is not a text file");
  return text
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

const windows1252 = new TextDecoder("windows-1252");

/** Roughly a cell. Files that were put together mix texts with and without damage. */
const betweenDelimiters = /[^\r\n\t,;"]+/g;

/** Characters that stand for a byte when Windows-1252 or ISO 8859-1 is read. */
const byteOf = new Map(
  Array.from({ length: 256 }, (_, byte) => byte).flatMap((byte): [string, number][] => [
    [String.fromCharCode(byte), byte],
    [windows1252.decode(Uint8Array.of(byte)), byte],
  ]),
);

/** The text behind UTF-8 that was read as Windows-1252 or ISO 8859-1 ("GroÃŸmann"). Undefined: it is not such a text. */
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
