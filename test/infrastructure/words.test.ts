/** Rules for words that no linter holds: lengths of titles, and names that lead nowhere. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const project = join(import.meta.dirname, "..", "..");
const files = [
  ...globSync("*.{md,json}", { cwd: project }),
  ...globSync("{bin,bench,dashboard,docs,functions,lib,local,shared,test}/**/*.{ts,tsx,mjs,md,json}", {
    cwd: project,
  }),
];

const read = (path: string): string => readFileSync(join(project, path), "utf8");

const maximumTitleLength = 80;
/** A string in front of a function: `test("…", () =>`, `describe.each(…)("…", async ({ … }) =>`. */
const title =
  /\(\s*(["'`])((?:(?!\1)[^\\\n]|\\.)*)\1,\s*(?:\{[^{}]*\},\s*)?(?:async\s+)?(?:\([^()]*\)|\w+)\s*=>/g;

/**
 * The project was built to requirements outside of this repository. What they say stands in the code and in
 * docs/, where a reader can follow it; the names of their files, and temporary files of one machine, would
 * lead nowhere.
 */
const elsewhere = /\b(?:interface|decisions)\.md\b|["'`= ]\/tmp\//i;

describe("words", () => {
  test("titles of tests have at most 80 characters", () => {
    const titles = files
      .filter((path) => path.endsWith(".test.ts"))
      .flatMap((path) => [...read(path).matchAll(title)].map(([, , words = ""]) => ({ path, words })));
    expect(titles.length).toBeGreaterThan(1_000);
    expect(titles.filter(({ words }) => words.length > maximumTitleLength)).toEqual([]);
  });

  test("no file names documents or folders that are not in the repository", () => {
    const named = files.flatMap((path) =>
      read(path)
        .split("\n")
        .map((line, index) => ({ line, at: `${path}:${index + 1}` }))
        .filter(({ line }) => elsewhere.test(line))
        .map(({ at }) => at),
    );
    expect(named).toEqual([]);
  });
});
