/** The entry point of `npm run bench`: measures the real template on the real engine. */
import { spawnSync } from "node:child_process";
import type { Arm } from "./arm.ts";
import { type ArmName, sizes as allSizes, asksForHelp, help, readCommandLine } from "./command-line.ts";
import { fillDocuments } from "./documents.ts";
import { store } from "./figures.ts";
import { asText } from "./print.ts";
import { progressOn } from "./progress.ts";

const load = async (name: ArmName): Promise<Arm> => {
  const module = (await import(`./${name}.ts`)) as Record<string, Arm>;
  const arm = Object.values(module).find((each) => each?.name === name);
  if (arm === undefined) throw new Error(`bench/${name}.ts exports no arm "${name}"`);
  return arm;
};

const optionsOf = (sizes: readonly number[], write: boolean): string[] => [
  ...sizes.flatMap((size) => ["--size", String(size)]),
  ...(write ? ["--write"] : []),
];

/** @throws Error when the arm fails. */
const runAlone = (args: readonly string[]): void => {
  const { status } = spawnSync(process.execPath, [import.meta.filename, ...args], { stdio: "inherit" });
  if (status !== 0) throw new Error(`The arm ${args[0]} failed`);
};

const run = async (): Promise<void> => {
  const args = process.argv.slice(2);
  if (asksForHelp(args)) {
    process.stdout.write(help());
    return;
  }
  const { arms, sizes, write } = readCommandLine(args);
  const [name, ...others] = arms;
  if (name === undefined) return;
  // Each arm has a process of its own: it sets environment variables, and clients of AWS keep their endpoints.
  if (others.length > 0) {
    for (const each of arms) runAlone([each, ...optionsOf(sizes, write)]);
    return;
  }
  const arm = await load(name);
  const progress = progressOn(process.stderr);
  progress(`${arm.name}: ${arm.about}`);
  const tables = await arm.run({ progress, sizes });
  for (const table of tables) process.stdout.write(`\n${asText(table)}`);
  if (!write) return;
  const isWhole = sizes.length === allSizes.length;
  store(
    name,
    ["npm run bench --", name, ...optionsOf(isWhole ? [] : sizes, write)].join(" "),
    tables,
    isWhole,
  );
  fillDocuments();
};

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    process.stderr.write(`\nThe benchmark was ended by ${signal}\n`);
    process.exit(1);
  });
}
await run().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
