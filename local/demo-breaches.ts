/**
 * What the embedded HIBP server knows for the demo organization: the built-in breaches, and one of this week
 * that many people are in.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtInBreaches } from "./hibp/hibp.ts";

const name = "ExamplePayroll";
const dayMilliseconds = 86_400_000;

/** The people of the breach, whom the demo organization watches, and aliases that nobody watches. */
const payrollPeople = join(import.meta.dirname, "demo/payroll-people.csv");
const unwatched = ["ida.rhodes", "intern", "jean.bartik", "kay.mcnulty", "marlyn.meltzer", "scanner"];

const directoryIn = (dataDirectory: string): string => join(dataDirectory, "breaches");

/**
 * Writes the files, unless an earlier start did: a breach keeps its dates. Nobody is in the breach of this week
 * yet. Resolves to their directory.
 */
export const writeDemoBreaches = async (dataDirectory: string, now = new Date()): Promise<string> => {
  const directory = directoryIn(dataDirectory);
  if (existsSync(join(directory, "accounts.json"))) return directory;
  await mkdir(directory, { recursive: true });
  const write = (file: string, content: unknown) => writeFile(join(directory, file), JSON.stringify(content));
  const daysAgo = (days: number): string => new Date(now.getTime() - days * dayMilliseconds).toISOString();
  const catalog = await readBuiltIn("catalog.json");
  const breach = {
    ...catalog[0],
    Name: name,
    Title: "Example Payroll (invented)",
    Domain: "payroll.example",
    BreachDate: daysAgo(24).slice(0, 10),
    AddedDate: daysAgo(2),
    ModifiedDate: daysAgo(2),
    PwnCount: 318_204,
    Description:
      "Invented for demonstration: a service that makes pay slips was broken into, and copies of " +
      "its database are for sale. Passwords were stored as they are.",
    DataClasses: [
      "Bank account numbers",
      "Email addresses",
      "Job titles",
      "Names",
      "Passwords",
      "Physical addresses",
      "Salutations",
    ],
  };
  await write("catalog.json", [...catalog, breach]);
  await write("stealer-logs.json", await readBuiltIn("stealer-logs.json"));
  // Last, so that a list in this place is whole.
  await write("accounts.json", await readBuiltIn("accounts.json"));
  return directory;
};

/** From now on the people are in the breach of this week. Nothing happens where there are no such files. */
export const publishBreach = async (dataDirectory: string): Promise<void> => {
  const file = join(directoryIn(dataDirectory), "accounts.json");
  if (!existsSync(file)) return;
  const watched = (await readFile(payrollPeople, "utf8")).match(/^.+@demo\.example/gm) ?? [];
  const addresses = [...watched, ...unwatched.map((alias) => `${alias}@demo.example`)];
  const accounts = Object.fromEntries(addresses.map((address) => [address, [name]]));
  // Renamed, so that the server reads no half of it.
  await writeFile(`${file}.new`, JSON.stringify({ ...(await readBuiltIn("accounts.json")), ...accounts }));
  await rename(`${file}.new`, file);
};

const readBuiltIn = async (file: string) => JSON.parse(await readFile(join(builtInBreaches, file), "utf8"));
