/** The entry point of `npm run bench`: measures the real template on the real engine. */
import { spawnSync } from "node:child_process";
import type { Run } from "./arm.ts";
import { arms as about, sizes as allSizes, readCommandLine, type Settings, usage } from "./command-line.ts";
import { fillDocuments } from "./documents.ts";
import { store } from "./figures.ts";
import { asText } from "./print.ts";
import { progressOn } from "./progress.ts";

const optionsOf = (sizes: readonly number[], write: boolean): string[] => [
  ...sizes.flatMap((size) => ["--size", String(size)]),
  ...(write ? ["--write"] : []),
];

/** @throws Error when the arm fails. */
const runAlone = (args: readonly string[]): void => {
  const { status } = spawnSync(process.execPath, [import.meta.filename, ...args], { stdio: "inherit" });
  if (status !== 0) throw new Error(`The arm ${args[0]} failed`);
};

const readSettings = (): Settings | undefined => {
  try {
    return readCommandLine(process.argv.slice(2));
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage}`);
  }
};

const run = async (): Promise<void> => {
  const settings = readSettings();
  if (settings === undefined) {
    process.stdout.write(usage);
    return;
  }
  const { arms, sizes, write } = settings;
  const [name, ...others] = arms;
  if (name === undefined) return;
  // Each arm has a process of its own: it sets environment variables, and clients of AWS keep their endpoints.
  if (others.length > 0) {
    for (const each of arms) runAlone([each, ...optionsOf(sizes, write)]);
    return;
  }
  const arm: { run: Run } = await import(`./${name}.ts`);
  const progress = progressOn(process.stderr);
  progress(`${name}: ${about[name]}`);
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
// Whoever reads the output may end first. The benchmark goes on.
process.stdout.on("error", () => undefined);
await run().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
