/** What the benchmark has measured, in bench/figures.json. Documents show it, and tests hold the costs among it. */
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import type { Table } from "./arm.ts";
import type { ArmName } from "./command-line.ts";

const path = join(import.meta.dirname, "figures.json");

/** What an arm measured, when, with which command, and on what machine. */
export type Section = { date: string; command: string; machine: string; tables: Table[] };

export type Figures = Partial<Record<ArmName, Section>>;

export const readFigures = (): Figures => JSON.parse(readFileSync(path, "utf8"));

/** @throws Error when nothing of that title was measured. */
export const tableOfFigures = (figures: Figures, arm: string, title: string): Table => {
  const found = figures[arm as ArmName]?.tables.find((table) => table.title === title);
  if (found === undefined) {
    throw new Error(`bench/figures.json has no table "${title}": run "npm run bench -- ${arm} --write"`);
  }
  return found;
};

/** Stores what an arm measured. `isWhole` false: only some sizes were measured, and tables of others stay. */
export const store = (name: ArmName, command: string, tables: readonly Table[], isWhole: boolean): void => {
  const figures = readFigures();
  const measured = new Map(tables.map((table) => [table.title, table]));
  const before = isWhole ? [] : (figures[name]?.tables ?? []);
  const kept = before.map((table) => measured.get(table.title) ?? table);
  const added = tables.filter(({ title }) => !kept.some((table) => table.title === title));
  const date = new Date().toISOString().slice(0, 10);
  figures[name] = { date, command, machine: machine(), tables: [...kept, ...added] };
  writeFileSync(path, asJson(figures));
};

/** JSON with a line for each row of a table. */
const asJson = (figures: Figures): string => {
  const rows: string[] = [];
  const marked = JSON.stringify(
    figures,
    (_, value) => {
      const isRow = Array.isArray(value) && value.every((each) => each === null || typeof each !== "object");
      return isRow ? `row ${rows.push(JSON.stringify(value)) - 1} of rows` : value;
    },
    2,
  );
  return `${marked.replaceAll(/"row (\d+) of rows"/g, (_, index) => rows[Number(index)] ?? "")}\n`;
};

const machine = (): string =>
  `${availableParallelism()} cores of ${cpus()[0]?.model.trim() ?? "an unknown processor"}, ` +
  `${Math.round(totalmem() / 2 ** 30)} GB, Node.js ${process.version}, load average ` +
  `${loadavg()[1]?.toFixed(1)} over the last five minutes`;
