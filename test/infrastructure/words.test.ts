/** Rules for words that no linter holds: lengths of titles, and names that lead nowhere. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseAst } from "vitest/node";

const project = join(import.meta.dirname, "..", "..");
const files = [
  ...globSync("*.{md,json}", { cwd: project }),
  ...globSync("{bin,bench,dashboard,docs,functions,lib,local,shared,test}/**/*.{ts,tsx,mjs,md,json}", {
    cwd: project,
  }),
];

const read = (path: string): string => readFileSync(join(project, path), "utf8");

const maximumTitleLength = 80;
type Node = { type: string; start: number; end: number } & Record<string, unknown>;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value;

/** The name that a called expression begins with: `test` of `test.each(…)("…", …)`. */
const firstNameOf = (callee: unknown): unknown =>
  isNode(callee) ? (callee.name ?? firstNameOf(callee.object ?? callee.callee)) : undefined;

/** Each test's title behind those of the `describe`s around it, as vitest prints them. */
const titlesIn = (source: string): string[] => {
  const within = (value: unknown, outer: readonly string[]): string[] => {
    if (Array.isArray(value)) return value.flatMap((each) => within(each, outer));
    if (!isNode(value)) return [];
    const name = value.type === "CallExpression" ? firstNameOf(value.callee) : undefined;
    const [title, ...others] = (value.arguments ?? []) as Node[];
    if ((name !== "test" && name !== "describe") || title === undefined || others.length === 0)
      return within(Object.values(value), outer);
    // Without quotes. Placeholders count as they are written.
    const titles = [...outer, source.slice(title.start + 1, title.end - 1)];
    return name === "test" ? [titles.join(" ")] : within(others, titles);
  };
  return within(parseAst(source, { lang: "ts" }).body, []);
};

const maximumLine = 120;
const maximumWords = 20;

type Text = { path: string; words: string };

/** Comments that stand on lines of their own, without the signs of comments. */
const commentsOf = (source: string): string[] => [
  ...[...source.matchAll(/^[ \t]*\{?\/\*\*?((?:[^*]|\*(?!\/))*)\*\//gm)].map(([, text = ""]) =>
    text.replaceAll(/^ *\* ?/gm, ""),
  ),
  ...[...source.matchAll(/(?:^[ \t]*\/\/.*\n)+/gm)].map(([text]) => text.replaceAll(/^[ \t]*\/\/ ?/gm, "")),
];

/** Sentences, where semicolons and colons end one too. Rows of tables and lines of a diagram are none. */
const sentencesOf = (comment: string): string[] =>
  comment
    .replaceAll(/^ *\|.*$/gm, "")
    .split(/\n\s*\n|\n *(?=- |@|\d+\. )/)
    .flatMap((paragraph) => paragraph.split(/(?<=[.!?;:])\s+/))
    .map((sentence) => sentence.trim().replaceAll(/\s+/g, " "));

const sources = files.filter((path) => /\.tsx?$/.test(path));

/**
 * The project was built to requirements outside of this repository. What they say stands in the code and in
 * docs/, where a reader can follow it; the names of their files, and temporary files of one machine, would
 * lead nowhere.
 */
const elsewhere = /\b(?:interface|decisions)\.md\b|["'`= ]\/tmp\//i;

describe("words", () => {
  test("titles of tests have at most 80 characters with those around them", () => {
    const titles = files
      .filter((path) => path.endsWith(".test.ts"))
      .flatMap((path) => titlesIn(read(path)).map((title) => ({ path, title })));
    expect(titles.length).toBeGreaterThan(1_500);
    expect(titles.filter(({ title }) => title.length > maximumTitleLength)).toEqual([]);
  });

  test("lines of code, comments and styles have at most 120 characters", () => {
    const styles = globSync("dashboard/**/*.css", { cwd: project });
    const lines = [...sources, ...styles].flatMap((path) =>
      read(path)
        .split("\n")
        .map((line, index) => ({ length: line.length, at: `${path}:${index + 1}` })),
    );
    expect(lines.length).toBeGreaterThan(50_000);
    expect(lines.filter(({ length }) => length > maximumLine)).toEqual([]);
  });

  test("sentences of comments have at most 20 words, no “of which” or “what is”", () => {
    const sentences: Text[] = sources.flatMap((path) =>
      commentsOf(read(path)).flatMap((comment) => sentencesOf(comment).map((words) => ({ path, words }))),
    );
    expect(sentences.length).toBeGreaterThan(5_000);
    expect(
      sentences.filter(
        ({ words }) => words.split(" ").length > maximumWords || /\b(?:of which|what is)\b/.test(words),
      ),
    ).toEqual([]);
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
