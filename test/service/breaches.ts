import { mkdtemp, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Breaches = {
  /** The value for the option `--breaches` of the local service. */
  directory: string;
  /** Replaces the data of the embedded HIBP server, each of the two files atomically. */
  write: (accounts: Record<string, string[]>, catalog: unknown[]) => Promise<void>;
};

/** Writes data for the embedded HIBP server; `accounts`: address to names of breaches, `stealerLogs`: to domains. */
export const createBreaches = async (
  accounts: Record<string, string[]>,
  catalog: unknown[],
  stealerLogs: Record<string, string[]> = {},
): Promise<Breaches> => {
  const directory = await mkdtemp(join(tmpdir(), "breaches-"));
  const replace = async (name: string, content: unknown): Promise<void> => {
    const file = join(directory, name);
    await writeFile(`${file}.new`, JSON.stringify(content));
    await rename(`${file}.new`, file);
  };
  const write: Breaches["write"] = async (newAccounts, newCatalog) => {
    await replace("catalog.json", newCatalog);
    await replace("accounts.json", newAccounts);
  };
  await replace("stealer-logs.json", stealerLogs);
  await write(accounts, catalog);
  return { directory, write };
};
