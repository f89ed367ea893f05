import { parseArgs } from "node:util";

export type ArmName = keyof typeof arms;

/** Every arm: what it measures. The file `<name>.ts` exports it under its name. */
export const arms = {
  lists: "Pages of every list, beside the plain way",
  endpoints: "Every other operation",
  scans: "Scans of 100,000 addresses",
  import: "Import of 500 addresses",
  bundles: "Sizes of the functions and how long they load",
  alerts: "Delivery of alerts",
  organizations: "Many organizations at once, and the rate of Have I Been Pwned",
  chaos: "Faults at every step",
  cost: "What a month costs, line by line",
} as const;

export const sizes = [1_000, 100_000, 1_000_000] as const;

/** What `--help` prints. */
export const help = (): string => {
  const width = Math.max(...Object.keys(arms).map((name) => name.length));
  const lines = Object.entries(arms).map(([name, about]) => `  ${name.padEnd(width)}  ${about}\n`);
  return `Usage: ${usage}

${lines.join("")}
  Without arms all run. --size: findings, all three unless given; a million take minutes. --write: into bench/report.md.
`;
};

/** Whether the person asks how to use it, whatever else there is. */
export const asksForHelp = (args: readonly string[]): boolean =>
  args.includes("--help") || args.includes("-h");

export type Settings = { arms: ArmName[]; sizes: number[]; json: boolean; write: boolean };

const usage = `npm run bench -- [arm ...] [--size ${sizes.join("|")}]... [--json] [--write]`;

/** @throws Error with a sentence that says what to do. */
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
    json: values.json ?? false,
    write: values.write ?? false,
  };
};

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        size: { type: "string", multiple: true },
        json: { type: "boolean" },
        write: { type: "boolean" },
      },
      allowPositionals: true,
    });
  } catch (error) {
    // Node's messages go on to explain positional arguments.
    const [sentence] = (error as Error).message.split(/\. (?=To )|\n/);
    throw new Error(`${sentence?.replace(/\.$/, "")}. Usage: ${usage}`);
  }
};
