/** The text of a file as the service reads it: UTF-8, UTF-16 with a byte order mark, or else Windows-1252, which is a guess. */
export function decode(bytes: Uint8Array): { text: string; isGuessed: boolean } {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes), isGuessed: false };
  } catch {
    return { text: new TextDecoder("windows-1252").decode(bytes), isGuessed: true };
  }
}
