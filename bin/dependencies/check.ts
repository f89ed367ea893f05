/**
 * Checks installed packages: licenses, and known vulnerabilities as far as the registry tells them. Exit
 * status 1 when something is wrong. SECURITY.md says what a team has to check elsewhere.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const cwd = join(import.meta.dirname, "../..");

/** The JSON that npm prints, whatever its exit status; `npm audit` exits with 1 when it finds something. */
const npm = async (...args: string[]): Promise<unknown> => {
  const reply = await promisify(execFile)("npm", args, { cwd, maxBuffer: 64 * 1024 * 1024 }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? "" }),
  );
  try {
    return JSON.parse(reply.stdout);
  } catch {
    return undefined;
  }
};

/** Licenses that ask for nothing but a notice. The Unlicense gives up all rights, as CC0 does. */
const permissive = [
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Unlicense",
];
const chosen = ["MIT OR Apache-2.0", "(MIT OR Apache-2.0)", "(MIT OR GPL-3.0-or-later)"];
/** Licenses of tools that are used and not handed on. */
const ofTools = ["MPL-2.0", "Python-2.0", "CC-BY-4.0", "CC0-1.0"];

/**
 * The project itself, and packages whose package.json names no license in the form of today; their license
 * files say MIT.
 */
const readByHand = ["#breach-monitor", "#busboy", "#streamsearch"];

type Installed = { name: string; version: string; license?: unknown };

const withOtherLicenses = async (which: ".prod" | ".dev", licenses: readonly string[]) => {
  const allowed = licenses.map((license) => `[license="${license}"]`);
  const packages = await npm(
    "query",
    `${which}${[...allowed, ...readByHand].map((each) => `:not(${each})`).join("")}`,
  );
  if (!Array.isArray(packages)) throw new Error("npm query gives no packages");
  return (packages as Installed[]).map(
    ({ name, version, license = "none" }) => `${name} ${version}: its license is ${JSON.stringify(license)}`,
  );
};

/** Undefined: the registry does not tell. */
const vulnerabilities = async (): Promise<string[] | undefined> => {
  const audit = (await npm("audit", "--json")) as { vulnerabilities?: object } | undefined;
  return (
    audit?.vulnerabilities &&
    Object.keys(audit.vulnerabilities).map((name) => `${name}: "npm audit" says what is known of it`)
  );
};

const known = await vulnerabilities();
const problems = [
  ...(await withOtherLicenses(".prod", [...permissive, ...chosen])),
  ...(await withOtherLicenses(".dev", [...permissive, ...chosen, ...ofTools])),
  ...(known ?? []),
];
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? "Licenses are in order." : `${problems.length} problems.`);
if (known === undefined) {
  console.log(
    'Known vulnerabilities were NOT checked: this registry serves none. Run "npm audit" where ' +
      "registry.npmjs.org answers.",
  );
}
if (problems.length > 0) process.exitCode = 1;
