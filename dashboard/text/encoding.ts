/** Whether the service reads a file as Unicode: UTF-8, or UTF-16 with a byte order mark. It takes all others for Windows-1252. */
export const isUnicode = (bytes: Uint8Array): boolean => {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
};
