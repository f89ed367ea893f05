import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Writes data for the embedded HIBP server, and gives the value of the local service's option `--breaches`.
 * `accounts`: address to names of breaches, `stealerLogs`: to domains.
 */
export const createBreaches = async (
  accounts: Record<string, string[]>,
  catalog: unknown[],
  stealerLogs: Record<string, string[]> = {},
): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "breaches-"));
  const files = { "catalog.json": catalog, "accounts.json": accounts, "stealer-logs.json": stealerLogs };
  for (const [name, content] of Object.entries(files))
    await writeFile(join(directory, name), JSON.stringify(content));
  return directory;
};
