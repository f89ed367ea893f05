import { mkdtemp, rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A breach in HIBP's form; invented. */
export const inventedBreach = (name: string, title = `${name} (invented)`) => ({
  Name: name,
  Title: title,
  Domain: `${name.toLowerCase()}.example`,
  BreachDate: "2020-02-02",
  AddedDate: "2020-03-03T00:00:00Z",
  ModifiedDate: "2020-03-03T00:00:00Z",
  PwnCount: 1000,
  Description: `Invented for tests: <b>${name}</b>.`,
  DataClasses: ["Email addresses", "Passwords"],
  IsVerified: true,
  IsFabricated: false,
  IsSensitive: false,
  IsRetired: false,
  IsSpamList: false,
  IsMalware: false,
  IsSubscriptionFree: false,
  IsStealerLog: false,
  LogoPath: "",
  Attribution: null,
});

export type Breaches = {
  /** For `--breaches`. */
  directory: string;
  /** Replaces what the embedded HIBP server answers from, each file at once. */
  write: (accounts: Record<string, string[]>, catalog: unknown[]) => Promise<void>;
};

export const createBreaches = async (
  accounts: Record<string, string[]>,
  catalog: unknown[],
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
  await write(accounts, catalog);
  return { directory, write };
};
