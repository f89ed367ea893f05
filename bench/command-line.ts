import { parseArgs } from "node:util";

export type ArmName = keyof typeof arms;

/** Every arm and what it measures. The file `<name>.ts` exports its `run`. */
export const arms = {
  lists: "Pages of every list",
  scans: "Scans of 100,000 addresses",
  contention: "Many calls of one organization at once, and a scan with conflicts",
  acknowledgements: "Acknowledging all findings of a first scan at once",
  alerts: "Throughput and latency of alerts, also while some endpoints never answer, and those of one scan",
  rules: "Findings that end without a click in three years of a company",
  cost: "What operations and a month cost, line by line",
} as const;

export const sizes = [1_000, 100_000, 1_000_000] as const;

export type Settings = { arms: ArmName[]; sizes: number[]; write: boolean };

/** The words of `--help`, which also follow a sentence about a mistake. */
export const usage = `Usage: npm run bench -- [arm ...] [--size ${sizes.join("|")}]... [--write]

${Object.entries(arms)
  .map(([name, about]) => `  ${name.padEnd(16)}  ${about}\n`)
  .join("")}
  Without an arm, all of them run.
  --size   Findings to seed; may be given more than once. Default: all three. A million takes minutes.
  --write  Also writes the tables into bench/figures.json, and their figures into the documents.
`;

/** Undefined: help is asked for. Throws a sentence about a mistake. */
export const readCommandLine = (args: string[]): Settings | undefined => {
  const { values, positionals } = parseArgs({
    args,
    options: {
      size: { type: "string", multiple: true, default: [] },
      write: { type: "boolean", default: false },
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
  });
  if (values.help) return undefined;
  const unknown = positionals.find((name) => !(name in arms));
  if (unknown !== undefined) throw new Error(`There is no arm "${unknown}".`);
  const other = values.size.find((size) => !sizes.some((each) => String(each) === size));
  if (other !== undefined) throw new Error(`--size takes ${sizes.join(", ")}, not "${other}".`);
  const all = Object.keys(arms) as ArmName[];
  return {
    arms: positionals.length > 0 ? all.filter((name) => positionals.includes(name)) : all,
    sizes: sizes.filter((size) => values.size.length === 0 || values.size.includes(String(size))),
    write: values.write,
  };
};
