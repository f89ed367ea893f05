/** The options of deployments, which cdk.json keeps for the next one. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const project = join(import.meta.dirname, "..", "..");
const file = join(project, "cdk.json");

export const readContext = (): Record<string, unknown> => JSON.parse(readFileSync(file, "utf8")).context;

export const writeContext = (options: Readonly<Record<string, string>>): void => {
  // A command that is ended here leaves the file whole.
  writeFileSync(`${file}.new`, withContext(readFileSync(file, "utf8"), options));
  renameSync(`${file}.new`, file);
};

/** The text of cdk.json with these options, and otherwise as it is, since it is under version control. */
export const withContext = (text: string, options: Readonly<Record<string, string>>): string => {
  let changed = text;
  for (const [name, value] of Object.entries(options)) {
    const entry = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    const former = new RegExp(`"${name}": *"[^"]*"`);
    changed = former.test(changed)
      ? changed.replace(former, () => entry)
      : changed.replace('"context": {', (start) => `${start}\n    ${entry},`);
  }
  return changed;
};
