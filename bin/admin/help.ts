/** What the commands are and what they take, for people. */
import { type Command, commands } from "./commands.ts";

const general = "[--json] [--port N | --stack NAME]";

const width = 110;

/** How to use the commands whose names begin with these words, such as `org` or `org create`; undefined when there are none. */
export const help = (words: string): string | undefined => {
  const found = Object.entries(commands).filter(([name]) => `${name} `.startsWith(words && `${words} `));
  const [first] = found;
  if (first === undefined) return undefined;
  if (found.length === 1) {
    const [name, command] = first;
    const flags = [...flagsOf(command), general].map((flag) => `  ${flag}\n`).join("");
    return `Usage: npm run admin -- ${name} [--flag value]...\n\n${command.about}\n\n${flags}`;
  }
  const list = found.map(
    ([name, command]) =>
      `${wrapped([`  ${name}`, ...flagsOf(command)])}\n${wrapped([" ".repeat(5), ...command.about.split(" ")])}\n`,
  );
  return `Usage: npm run admin -- <noun> <verb> [--flag value]... ${general}\n\n${list.join("\n")}`;
};

const flagsOf = ({ flags }: Command): string[] =>
  Object.entries(flags).map(([flag, kind]) =>
    kind.startsWith("required") ? written(flag, kind) : `[${written(flag, kind)}]`,
  );

/** A flag with its value, as it is typed. */
export const written = (flag: string, kind: string): string =>
  [`--${flag}`, ...kind.split(" ").slice(1)].join(" ");

/** Words in lines of a width, but for words that are longer. */
const wrapped = (words: readonly string[]): string => {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== undefined && line.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(line === undefined ? word : `      ${word}`);
  }
  return lines.join("\n");
};
