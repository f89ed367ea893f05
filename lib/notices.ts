/** The notices that the licenses of bundled packages ask for. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const project = join(import.meta.dirname, "..");

type Package = { name: string; version: string; license: unknown; directory: string };

/** The packages that source files are of, by their paths below the project. */
function packagesOf(sources: Iterable<string>): Package[] {
  const directories = new Set<string>();
  for (const source of sources) {
    const [, directory] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(source) ?? [];
    if (directory !== undefined) directories.add(directory);
  }
  return [...directories]
    .map((directory) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(project, directory, "package.json"), "utf8"),
      );
      return { name, version, license, directory };
    })
    .sort((one, other) => (`${one.name} ${one.version}` < `${other.name} ${other.version}` ? -1 : 1));
}

/**
 * The text of a package's license, or its name where the package has no such file. Throws if it says nothing at all.
 */
function licenseOf({ name, license, directory }: Package): string {
  const path = join(project, directory);
  const file = readdirSync(path).find((each) => /^(licen[cs]e|copying)(\.|$)/i.test(each));
  if (file !== undefined) return readFileSync(join(path, file), "utf8").trim();
  if (typeof license !== "string") throw new Error(`The package ${name} does not say its license`);
  return `License: ${license}`;
}

/** Says which packages are in a bundle and under which licenses; each text is there once. Empty without packages. */
export function noticesOf(sources: Iterable<string>): string {
  const packages = packagesOf(sources);
  const byText = [...Map.groupBy(packages, (each) => licenseOf(each).replaceAll(/\s+/g, " "))];
  const parts = byText.map(([, same]) =>
    [same.map(({ name, version }) => `${name} ${version}`).join("\n"), licenseOf(same[0] as Package)].join(
      "\n\n",
    ),
  );
  return parts.length === 0 ? "" : `${parts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
}
