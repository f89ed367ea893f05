/**
 * The files that the server answers from: `catalog.json`, `accounts.json` and, if it is there,
 * `stealer-logs.json` of a directory.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** A breach in HIBP's own form. Only its name matters here; all other fields are passed through. */
export type Breach = { Name: string; [field: string]: unknown };

export type Breaches = {
  catalog: readonly Breach[];
  /** By name in lower case. */
  byName: ReadonlyMap<string, Breach>;
  /** Domain → alias → breach names; domain and alias in lower case. */
  domains: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
  /** Domain → alias → domains of the websites whose logins were taken from it. */
  stealerLogs: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;
};

/**
 * Returns a function that gives the files' present content, reading them only when they have changed. A
 * broken file leaves the last good content in use and is reported once, as one line. Rejects when the files
 * cannot be read at the start.
 */
export const openBreachFiles = async (
  directory: string,
  report: (line: string) => void,
): Promise<() => Promise<Breaches>> => {
  let version = await versionOf(directory);
  let latest = load(directory);
  await latest;
  return async () => {
    const current = await versionOf(directory);
    if (current !== version) {
      version = current;
      const lastGood = latest;
      latest = load(directory).catch((error: Error) => {
        report(`${error.message} The last good breaches stay in use.`);
        return lastGood;
      });
    }
    return latest;
  };
};

const catalogFile = "catalog.json";
const accountsFile = "accounts.json";
const stealerLogsFile = "stealer-logs.json";

const load = async (directory: string): Promise<Breaches> => {
  const catalog = readCatalog(...(await readJson(directory, catalogFile)));
  const accounts = readAccounts(...(await readJson(directory, accountsFile)));
  const stealerLogs = readAccounts(...(await readJson(directory, stealerLogsFile, {})));
  return {
    catalog,
    byName: new Map(catalog.map((breach) => [breach.Name.toLowerCase(), breach])),
    domains: groupByDomain(accounts),
    stealerLogs: groupByDomain(stealerLogs),
  };
};

/** A text that changes whenever one of the files does. */
const versionOf = async (directory: string): Promise<string> => {
  const versions = [catalogFile, accountsFile, stealerLogsFile].map(async (name) => {
    const file = await stat(join(directory, name), { bigint: true }).catch(() => undefined);
    return `${file?.ino}/${file?.mtimeNs}/${file?.size}`;
  });
  return (await Promise.all(versions)).join(" ");
};

/** What a file holds, and its path. */
const readJson = async (directory: string, name: string, missing?: unknown): Promise<[unknown, string]> => {
  const path = join(directory, name);
  try {
    return [JSON.parse((await readFile(path, "utf8")).replace(/^\uFEFF/, "")), path];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && missing !== undefined) return [missing, path];
    if (code === "ENOENT") throw new Error(`${path} does not exist.`);
    throw new Error(code ? `${path} can't be read: ${code}.` : `${path} is not valid JSON: ${message}.`);
  }
};

const readCatalog = (value: unknown, path: string): Breach[] => {
  if (!Array.isArray(value)) throw new Error(`${path} must be an array of breach objects.`);
  for (const [index, breach] of value.entries()) {
    if (typeof breach?.Name !== "string" || breach.Name === "") {
      throw new Error(`${path} has a breach without a Name at position ${index}.`);
    }
  }
  return value;
};

const readAccounts = (value: unknown, path: string): Map<string, string[]> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`${path} must be an object of addresses, each with an array of names.`);
  }
  for (const [address, names] of Object.entries(value)) {
    if (!/^[^@\s][^\s]*@[^@\s]+$/.test(address)) {
      throw new Error(`${path} has a key that is not an e-mail address.`);
    }
    if (!Array.isArray(names) || names.some((name) => typeof name !== "string")) {
      throw new Error(`${path} has an address whose value is not an array of names.`);
    }
  }
  return new Map(Object.entries(value));
};

const groupByDomain = (accounts: Map<string, string[]>): Map<string, Map<string, readonly string[]>> => {
  const domains = new Map<string, Map<string, readonly string[]>>();
  for (const [address, names] of accounts) {
    const at = address.lastIndexOf("@");
    const domain = address.slice(at + 1).toLowerCase();
    const aliases = domains.get(domain) ?? new Map<string, readonly string[]>();
    domains.set(domain, aliases);
    if (names.length > 0) aliases.set(address.slice(0, at).toLowerCase(), names);
  }
  return domains;
};
