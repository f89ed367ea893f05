/** The files that the server answers from: `catalog.json`, `accounts.json` and, if it is there, `stealer-logs.json` of a directory. */
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
  /** Address in lower case → domains of the websites whose logins were taken from it. */
  stealerLogs: ReadonlyMap<string, readonly string[]>;
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
  const paths: Paths = {
    catalog: join(directory, "catalog.json"),
    accounts: join(directory, "accounts.json"),
    stealerLogs: join(directory, "stealer-logs.json"),
  };

  const loadOrKeep = async (lastGood: Promise<Breaches>): Promise<Breaches> => {
    try {
      return await load(paths);
    } catch (error) {
      report(`${(error as Error).message} The last good breaches stay in use.`);
      return lastGood;
    }
  };

  let version = await versionOf(...Object.values(paths));
  let latest = load(paths);
  await latest;
  return async () => {
    const found = await versionOf(...Object.values(paths));
    if (found !== version) {
      version = found;
      latest = loadOrKeep(latest);
    }
    return latest;
  };
};

type Paths = Record<"catalog" | "accounts" | "stealerLogs", string>;

const load = async (paths: Paths): Promise<Breaches> => {
  const catalog = readCatalog(await readJson(paths.catalog), paths.catalog);
  const accounts = readAccounts(await readJson(paths.accounts), paths.accounts);
  const isThere = (await versionOf(paths.stealerLogs)) !== "missing";
  const stealerLogs = readAccounts(isThere ? await readJson(paths.stealerLogs) : {}, paths.stealerLogs);
  return {
    catalog,
    byName: new Map(catalog.map((breach) => [breach.Name.toLowerCase(), breach])),
    domains: groupByDomain(accounts),
    stealerLogs: new Map(
      [...stealerLogs].map(([address, websites]) => [address.toLowerCase(), websites.toSorted()]),
    ),
  };
};

/** A text that changes whenever one of the files does. */
const versionOf = async (...paths: string[]): Promise<string> => {
  const versions = await Promise.all(
    paths.map(async (path) => {
      const file = await stat(path, { bigint: true }).catch(() => undefined);
      return file ? `${file.ino}/${file.mtimeNs}/${file.size}` : "missing";
    }),
  );
  return versions.join(" ");
};

const readJson = async (path: string): Promise<unknown> => {
  const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new Error(
      error.code === "ENOENT" ? `${path} does not exist.` : `${path} can't be read: ${error.code}.`,
    );
  });
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new Error(`${path} is not valid JSON: ${(error as Error).message}.`);
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
