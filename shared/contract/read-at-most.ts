/** The whole body of an answer of another service. Throws what `tooLarge` makes of one with more bytes. */
export const readAtMost = async (
  response: Response,
  maximumBytes: number,
  tooLarge: () => Error,
): Promise<Buffer<ArrayBuffer>> => {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (bytes > maximumBytes) throw tooLarge();
    parts.push(chunk);
  }
  return Buffer.concat(parts);
};
