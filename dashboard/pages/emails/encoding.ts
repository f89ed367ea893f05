/**
 * The text of a file as the service reads it: UTF-8, UTF-16 with a byte order mark, or a guess. Names the
 * guess.
 */
export function decode(bytes: Uint8Array): { text: string; guess?: string } {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes) };
  } catch {
    const isMac = bytes.includes(0x0d) && !bytes.includes(0x0a);
    const [label, guess] = isMac ? ["macintosh", "Mac OS Roman"] : ["windows-1252", "Windows-1252"];
    return { text: new TextDecoder(label).decode(bytes), guess };
  }
}
