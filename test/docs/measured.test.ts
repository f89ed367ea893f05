import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { filled, measuredDocuments } from "../../bench/documents.ts";
import { readFigures } from "../../bench/figures.ts";
import { documents, project } from "./markdown.ts";

const read = (path: string): string => readFileSync(join(project, path), "utf8");

describe("measured figures", () => {
  test.each(measuredDocuments())("%s shows what bench/figures.json has", (path) => {
    const hint = 'Run "npm run figures", which writes the figures into the documents.';
    expect(read(path), hint).toBe(filled(read(path), readFigures()));
  });

  test("no other document says what an operation costs in units", () => {
    const stated = documents()
      .filter(({ path }) => path !== "CHANGELOG.md" && !path.startsWith("docs/decisions/"))
      .flatMap(({ path }) =>
        read(path)
          .replaceAll(/<!-- measured: [\s\S]*?<!-- \/measured -->/g, "")
          .split("\n")
          .filter((line) => /[\d.]+ (?:(?:to|or) [\d.]+ )?(?:read|write)\b(?! units a second)/.test(line))
          .map((line) => `${path}: ${line}`),
      );
    expect(stated).toEqual([]);
  });

  test("a place is filled with a table, or some of its columns", () => {
    const table = { title: "Pages", columns: ["Page", "Units", "ms"], rows: [["first", 1_200, 3]] };
    const figures = { lists: { date: "", command: "", machine: "", tables: [table] } };
    const fill = (what: string) => filled(`a <!-- measured: ${what} -->old<!-- /measured --> b`, figures);
    expect(fill("lists > Pages > Units; Page")).toContain(
      "\n| Units | Page |\n| --: | :-- |\n| 1,200 | first |\n",
    );
    expect(() => fill("lists > Nothing")).toThrow('no table "Nothing": run "npm run bench -- lists --write"');
  });
});
