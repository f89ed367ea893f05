import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Writes a file for `email import` into a directory of its own; gives the file's path. */
export const writeAddresses = async (text: string | readonly string[]): Promise<string> => {
  const file = join(await mkdtemp(join(tmpdir(), "addresses-")), "addresses.txt");
  await writeFile(file, typeof text === "string" ? text : text.join("\n"));
  return file;
};
