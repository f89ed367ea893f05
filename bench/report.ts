import { readFile, writeFile } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import type { Table } from "./arm.ts";
import { arms } from "./command-line.ts";
import { asMarkdown } from "./print.ts";

const path = join(import.meta.dirname, "report.md");

/** What one arm measured, and the command that measures it again. */
export type Section = { name: keyof typeof arms; command: string; tables: Table[] };

/** Rewrites the sections of the arms that ran and leaves the others as they were. */
export const writeReport = async (sections: readonly Section[]): Promise<void> => {
  const kept = sectionsOf(await readFile(path, "utf8").catch(() => ""));
  for (const { name, command, tables } of sections) {
    const head = `${new Date().toISOString().slice(0, 10)}, \`${command}\`, on ${machine()}.`;
    kept.set(name, [head, "", ...tables.map(asMarkdown)].join("\n").trimEnd());
  }
  const ordered = Object.entries(arms).flatMap(([name, about]) => {
    const text = kept.get(name);
    return text === undefined ? [] : [`## ${name}: ${about}\n\n${text}\n`];
  });
  await writeFile(
    path,
    [
      "# Benchmark",
      "",
      "Written by `npm run bench -- --write`. Each section is the last run of its arm.",
      "",
      ...ordered,
    ].join("\n"),
  );
};

/** The text below the heading of each arm, by the name of the arm. */
const sectionsOf = (report: string): Map<string, string> =>
  new Map(
    report.split(/^## /m).flatMap((section) => {
      const [, name, text] = /^(\w+): [^\n]*\n\n([\s\S]*)$/.exec(section) ?? [];
      return name === undefined || text === undefined ? [] : [[name, text.trimEnd()] as const];
    }),
  );

const machine = (): string =>
  `${availableParallelism()} cores of ${cpus()[0]?.model.trim() ?? "an unknown processor"}, ${Math.round(totalmem() / 2 ** 30)} GB, Node.js ${process.version}, load average ${loadavg()[1]?.toFixed(1)} over the last five minutes`;
