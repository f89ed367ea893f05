import { parseArgs } from "node:util";

export type ArmName = keyof typeof arms;

/** Every arm and what it measures. The file `<name>.ts` exports its `run`. */
export const arms = {
  lists: "Pages of every list",
  scans: "Scans of 100,000 addresses",
  contention: "Many calls of one organization at once, and a scan with conflicts",
  acknowledgements: "Acknowledging all findings of a first scan at once",
  alerts: "Throughput and latency of alerts, also while some endpoints never answer, and those of one scan",
  cost: "What operations and a month cost, line by line",
  triage: "What people ask the morning after a first scan",
} as const;

export const sizes = [1_000, 100_000, 1_000_000] as const;

/** What `--help` prints. */
export const help = (): string => {
  const width = Math.max(...Object.keys(arms).map((name) => name.length));
  const lines = Object.entries(arms).map(([name, about]) => `  ${name.padEnd(width)}  ${about}\n`);
  return `Usage: ${usage}

${lines.join("")}
  Without an arm, all of them run.
  --size   Findings to seed; may be given more than once. Default: all three. A million takes minutes.
  --write  Also writes the tables into bench/figures.json, and their figures into the documents.
`;
};

/** Whether --help is among the arguments, which then takes precedence over all others. */
export const asksForHelp = (args: readonly string[]): boolean =>
  args.includes("--help") || args.includes("-h");

export type Settings = { arms: ArmName[]; sizes: number[]; write: boolean };

const usage = `npm run bench -- [arm ...] [--size ${sizes.join("|")}]... [--write]`;

/** @throws Error whose message says what is wrong and how to use the command. */
export const readCommandLine = (args: readonly string[]): Settings => {
  const { values, positionals } = parse(args);
  const unknown = positionals.find((name) => !(name in arms));
  if (unknown !== undefined) {
    throw new Error(`There is no arm "${unknown}". Arms: ${Object.keys(arms).join(", ")}. Usage: ${usage}`);
  }
  const chosen = (values.size ?? []).map((text) => {
    const size = Number(text.replaceAll(/[_,]/g, ""));
    if (!(sizes as readonly number[]).includes(size)) {
      throw new Error(`--size takes ${sizes.join(", ")}, not "${text}". Usage: ${usage}`);
    }
    return size;
  });
  return {
    arms: (positionals.length > 0 ? [...new Set(positionals)] : Object.keys(arms)) as ArmName[],
    sizes: chosen.length > 0 ? [...new Set(chosen)].sort((a, b) => a - b) : [...sizes],
    write: values.write ?? false,
  };
};

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      options: { size: { type: "string", multiple: true }, write: { type: "boolean" } },
      allowPositionals: true,
    });
  } catch (error) {
    throw new Error(`${(error as Error).message} Usage: ${usage}`);
  }
};
