/**
 * What the embedded HIBP server knows for the demo organization: the built-in breaches, and one of this week
 * that many people are in.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtInBreaches } from "./hibp/hibp.ts";

const name = "ExamplePayroll";
const dayMilliseconds = 86_400_000;

/** The people of the breach, whom the demo organization watches, and aliases that nobody watches. */
const payrollPeople = join(import.meta.dirname, "demo/payroll-people.csv");
const unwatched = ["ida.rhodes", "intern", "jean.bartik", "kay.mcnulty", "marlyn.meltzer", "scanner"];

/** Writes the files, unless an earlier start did: a breach keeps its dates. Resolves to their directory. */
export const writeDemoBreaches = async (dataDirectory: string, now = new Date()): Promise<string> => {
  const directory = join(dataDirectory, "breaches");
  if (existsSync(join(directory, "accounts.json"))) return directory;
  await mkdir(directory, { recursive: true });
  const read = async (file: string) => JSON.parse(await readFile(join(builtInBreaches, file), "utf8"));
  const write = (file: string, content: unknown) => writeFile(join(directory, file), JSON.stringify(content));
  const daysAgo = (days: number): string => new Date(now.getTime() - days * dayMilliseconds).toISOString();
  const catalog = await read("catalog.json");
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
  const watched = (await readFile(payrollPeople, "utf8")).match(/^.+@demo\.example/gm) ?? [];
  const addresses = [...watched, ...unwatched.map((alias) => `${alias}@demo.example`)];
  const accounts = Object.fromEntries(addresses.map((address) => [address, [name]]));
  await write("catalog.json", [...catalog, breach]);
  await write("stealer-logs.json", await read("stealer-logs.json"));
  // Last, so that a list in this place is whole.
  await write("accounts.json", { ...(await read("accounts.json")), ...accounts });
  return directory;
};
