/**
 * Fills the marked places of documents with measured figures: `npm run figures`. A place between
 * `<!-- measured: arm > table -->` and `<!-- /measured -->` holds the table, and one with `> column; column`
 * behind the table holds these columns.
 */
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Figures, readFigures, tableOfFigures } from "./figures.ts";
import { asMarkdown } from "./print.ts";

const project = join(import.meta.dirname, "..");

const place = /<!-- measured: ([^\n]+?) -->[\s\S]*?<!-- \/measured -->/g;

/** The documents with marked places, relative to the project. */
export const measuredDocuments = (): string[] =>
  globSync("{*.md,docs/**/*.md,local/*.md}", { cwd: project }).filter((path) =>
    readFileSync(join(project, path), "utf8").includes("<!-- measured: "),
  );

/** A document's text with the figures as they are now. */
export const filled = (text: string, figures: Figures): string =>
  text.replaceAll(place, (_, what: string) => {
    const content = contentOf(what.split(" > "), figures);
    return `<!-- measured: ${what} -->${content}<!-- /measured -->`;
  });

const contentOf = ([arm = "", title = "", wanted]: string[], figures: Figures): string => {
  const table = tableOfFigures(figures, arm, title);
  const indexOf = (column: string): number => {
    const index = table.columns.indexOf(column);
    if (index === -1) throw new Error(`The table "${title}" has no column "${column}"`);
    return index;
  };
  const columns = wanted === undefined ? table.columns : wanted.split("; ");
  const rows = table.rows.map((cells) => columns.map((name) => cells[indexOf(name)] ?? null));
  return `\n\n${asMarkdown({ columns, rows })}\n`;
};

export const fillDocuments = (): void => {
  const figures = readFigures();
  for (const path of measuredDocuments()) {
    const file = join(project, path);
    writeFileSync(file, filled(readFileSync(file, "utf8"), figures));
  }
};

if (import.meta.main) fillDocuments();
