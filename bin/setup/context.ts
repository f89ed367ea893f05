/** The options of deployments, which cdk.json keeps for the next one. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const project = join(import.meta.dirname, "..", "..");
const file = join(project, "cdk.json");

export const readContext = (): Record<string, unknown> => JSON.parse(readFileSync(file, "utf8")).context;

/** Changes as little of the file as it can, since it is under version control. */
export const writeContext = (options: Readonly<Record<string, string>>): void => {
  let text = readFileSync(file, "utf8");
  for (const [name, value] of Object.entries(options)) {
    const entry = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
    const former = new RegExp(`"${name}": *"[^"]*"`);
    text = former.test(text)
      ? text.replace(former, () => entry)
      : text.replace('"context": {', (start) => `${start}\n    ${entry},`);
  }
  // A command that is ended here leaves the file whole.
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
};
