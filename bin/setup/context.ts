/** The options of deployments, which cdk.json keeps for the next one. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const project = join(import.meta.dirname, "..", "..");
const file = join(project, "cdk.json");

export const readContext = (): Record<string, unknown> =>
  JSON.parse(readFileSync(file, "utf8")).context ?? {};

export const writeContext = (options: Readonly<Record<string, string>>): void => {
  // A command that is ended here leaves the file whole.
  writeFileSync(`${file}.new`, withContext(readFileSync(file, "utf8"), options));
  renameSync(`${file}.new`, file);
};

/**
 * The text of cdk.json with these options in front. Its other lines stay as they are, because biome.json
 * formats it like this.
 */
export const withContext = (text: string, options: Readonly<Record<string, string>>): string => {
  const settings = JSON.parse(text);
  const context = { ...options, ...settings.context, ...options };
  return `${JSON.stringify({ ...settings, context }, null, 2)}\n`;
};
