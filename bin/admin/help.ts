import type { Command } from "./command.ts";
import { commands } from "./commands.ts";

const generalFlags = "[--json] [--port N | --stack NAME]";

/**
 * The usage of all commands whose names begin with the words, such as `org` or `org create`; undefined if
 * there are none.
 */
export const help = (words: string): string | undefined => {
  const matching = Object.entries(commands).filter(([name]) => `${name} `.startsWith(words && `${words} `));
  const [first] = matching;
  if (first === undefined) return undefined;
  if (matching.length === 1) {
    const [name, command] = first;
    const flags = [...flagsOf(command), generalFlags].map((flag) => `  ${flag}\n`).join("");
    return `Usage: npm run admin -- ${name} [--flag value]...\n\n${command.about}\n\n${flags}`;
  }
  const list = matching.map(
    ([name, command]) => `  ${[name, ...flagsOf(command)].join(" ")}\n      ${command.about}\n`,
  );
  return `Usage: npm run admin -- <noun> <verb> [--flag value]... ${generalFlags}\n\n${list.join("\n")}`;
};

const flagsOf = ({ flags }: Command): string[] =>
  Object.entries(flags).map(([flag, kind]) =>
    kind.startsWith("required") ? written(flag, kind) : `[${written(flag, kind)}]`,
  );

/** A flag and a placeholder for its value: `--name NAME`. */
export const written = (flag: string, kind: string): string =>
  [`--${flag}`, ...kind.split(" ").slice(1)].join(" ");
