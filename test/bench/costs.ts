import { expect, inject } from "vitest";
import type { Cell } from "../../bench/arm.ts";
import { readFigures, tableOfFigures } from "../../bench/figures.ts";
import { countPages, pageCells, pageColumns, titleOfPages } from "../../bench/lists.ts";
import { accountsOf } from "../../bench/seed/findings.ts";
import { sizeOf } from "../../bench/seed/seed.ts";
import { type Bench, makeDatabase, removeScratch, startBench } from "../../bench/service.ts";
import { admin } from "../service/admin.ts";

export type Seeded = { bench: Bench; stop: () => Promise<void> };

/** Starts a service on a seeded table with this many findings. */
export const start = async (size: number): Promise<Seeded> => {
  const options = { progress: () => {}, assemblyDirectory: inject("assembly") };
  const database = await makeDatabase(`costs-${size}`, sizeOf(size), options);
  const bench = await startBench(database, { accounts: accountsOf(database.seeded) });
  return {
    bench,
    stop: async () => {
      await bench.close();
      removeScratch();
    },
  };
};

/** Seeded times follow the clock: a page of 160 read units read 159 at another hour. */
const tolerance = 0.01;

/**
 * Counted rows must be those of bench/figures.json in these columns: documents show those figures, so that a
 * cost that falls is a difference too.
 */
export const expectStored = (
  rows: readonly Cell[][],
  { arm, title, columns }: { arm: "lists" | "cost"; title: string; columns: readonly string[] },
): void => {
  const table = tableOfFigures(readFigures(), arm, title);
  const stored = table.rows.map((row) => columns.map((name) => row[table.columns.indexOf(name)]));
  const hint = `Costs changed. If that is meant, run "npm run bench -- ${arm} --write" and show the difference.`;
  const rounded = rows.map((row, index) =>
    row.map((cell, column) => {
      const figure = stored[index]?.[column];
      const isNear = Math.abs(Number(cell) - Number(figure)) <= tolerance * Number(figure);
      return isNear ? figure : cell;
    }),
  );
  expect(rounded, hint).toEqual(stored);
};

export const expectPagesStored = async (bench: Bench): Promise<void> => {
  const rows = (await countPages(bench)).map(pageCells);
  expectStored(rows, { arm: "lists", title: titleOfPages(bench.seeded), columns: pageColumns });
};

/** The seeded rows are rows that the service could have written, if the audit finds no difference. */
export const expectConsistent = async ({ bench }: Seeded): Promise<void> => {
  const report = await admin("check", { org: bench.seeded.org }, bench.service.apiUrl);
  expect(report).toMatchObject({ differences: [] });
};
