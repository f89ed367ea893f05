/**
 * The entry point of `npm run bench`: measures the real template on the real engine and prints the tables of
 * each arm.
 */
import type { Arm } from "./arm.ts";
import { type ArmName, asksForHelp, help, readCommandLine, sizes } from "./command-line.ts";
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

const commandFor = (name: ArmName, sizes: readonly number[]): string =>
  ["npm run bench --", name, "--write", ...sizes.map((size) => `--size ${size}`)].join(" ");

const run = async (): Promise<void> => {
  const args = process.argv.slice(2);
  if (asksForHelp(args)) {
    process.stdout.write(help());
    return;
  }
  const settings = readCommandLine(args);
  const progress = progressOn(process.stderr);
  const isWhole = settings.sizes.length === sizes.length;
  for (const name of settings.arms) {
    const arm = await load(name);
    progress(`${arm.name}: ${arm.about}`);
    const tables = await arm.run({ progress, sizes: settings.sizes });
    for (const table of tables) process.stdout.write(`\n${asText(table)}`);
    // Written after each arm, so that nothing measured is lost when a later arm fails.
    if (settings.write) store(name, commandFor(name, isWhole ? [] : settings.sizes), tables, isWhole);
  }
  if (settings.write) fillDocuments();
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
