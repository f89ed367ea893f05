/**
 * Checks what is installed: licenses, versions that their makers have withdrawn, and known vulnerabilities as far as the registry tells
 * them. Exit status 1 when something is wrong. SECURITY.md says what a team has to check elsewhere.
 */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const project = join(import.meta.dirname, "../..");
const run = promisify(execFile);

type Installed = {
  name: string;
  version: string;
  isProduction: boolean;
  license: string;
  deprecated?: string;
};

/** Licenses that ask for nothing but a notice. */
const permissive = [
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "MIT",
  "MIT-0",
];
/** Licenses of tools that are used and not handed on. The Unlicense gives up all rights, as CC0 does. */
const ofTools = [...permissive, "MPL-2.0", "Python-2.0", "CC-BY-4.0", "CC0-1.0", "Unlicense"];

/** Packages whose package.json names no license in the form of today, and what their license file says. */
const readByHand: Record<string, string> = { busboy: "MIT", streamsearch: "MIT" };

/** Every package of the lock file that is installed on this machine. */
const installed = (): Installed[] => {
  const lock = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8")) as {
    packages: Record<string, { version: string; dev?: boolean; optional?: boolean; deprecated?: string }>;
  };
  return Object.entries(lock.packages).flatMap(([path, { version, dev = false, deprecated }]) => {
    if (path === "") return [];
    const name = path.split("node_modules/").at(-1) as string;
    try {
      const { license } = JSON.parse(readFileSync(join(project, path, "package.json"), "utf8"));
      const told = typeof license === "string" ? license : (readByHand[name] ?? "none");
      return [
        { name, version, isProduction: !dev, license: told, ...(deprecated !== undefined && { deprecated }) },
      ];
    } catch {
      // A package for another platform.
      return [];
    }
  });
};

/** Of an expression such as "(MIT OR GPL-3.0-or-later)" one license is enough. */
const isAllowed = (expression: string, allowed: readonly string[]): boolean =>
  expression
    .replaceAll(/[()]/g, "")
    .split(" OR ")
    .some((each) => allowed.includes(each));

const licenseProblems = (packages: readonly Installed[]): string[] =>
  packages
    .filter(({ isProduction, license }) => !isAllowed(license, isProduction ? permissive : ofTools))
    .map(({ name, version, license }) => `${name} ${version}: its license is ${license}`);

const withdrawn = (packages: readonly Installed[]): string[] =>
  packages.flatMap(({ name, version, deprecated }) =>
    deprecated === undefined ? [] : [`${name} ${version} is withdrawn: ${deprecated}`],
  );

type Audit = {
  vulnerabilities?: Record<
    string,
    { severity: string; range: string; via: (string | { title?: string; url?: string })[] }
  >;
};

/** Undefined: the registry does not tell. */
const vulnerabilities = async (): Promise<string[] | undefined> => {
  const audit = await run("npm", ["audit", "--json"], { cwd: project, maxBuffer: 64 * 1024 * 1024 }).catch(
    // It exits with 1 when it finds something.
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }),
  );
  const { vulnerabilities: found } = parsed(audit.stdout);
  if (found === undefined) return undefined;
  return Object.entries(found).map(([name, { severity, range, via }]) => {
    const [first] = via;
    const what = typeof first === "object" ? `${first.title} ${first.url}` : `by ${first}`;
    return `${name} ${range} (${severity}): ${what}`;
  });
};

const parsed = (json: string): Audit => {
  try {
    return JSON.parse(json) as Audit;
  } catch {
    return {};
  }
};

const packages = installed();
const known = await vulnerabilities();
const problems = [...licenseProblems(packages), ...withdrawn(packages), ...(known ?? [])];
for (const problem of problems) console.error(problem);
const production = packages.filter(({ isProduction }) => isProduction).length;
console.log(
  `${packages.length} packages, ${production} of them in production: ` +
    `${problems.length === 0 ? "licenses and versions are in order" : `${problems.length} problems`}.`,
);
if (known === undefined) {
  console.log(
    'Known vulnerabilities were NOT checked: this registry serves none. Run "npm audit" where registry.npmjs.org answers.',
  );
}
if (problems.length > 0) process.exitCode = 1;
