/** The documents lead somewhere: every link has its target, and every name of code in them still exists. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, test } from "vitest";
import { documents, project } from "./markdown.ts";

const all = documents();
const byPath = new Map(all.map((document) => [document.path, document]));

/** Where a relative link leads to, as a path below the project. */
const targetOf = (path: string, target: string): string =>
  normalize(join(dirname(path), decodeURIComponent(target.split("#")[0] ?? "")));

const isExternal = (target: string): boolean => /^[a-z][a-z+.-]*:/i.test(target);

/** Written by programs, so that they may be missing in a fresh checkout. */
const generated = /^(\.local|cdk\.out|node_modules)\//;

/** `shared/scanning/plan.ts`, `functions/*\/endpoint.ts`, `test/lists/`; `<name>` stands for any name. */
const pathPattern = /^[\w.@*<>{},-]+(?:\/[\w.@*<>{},-]+)*(?:\/|\/[\w.@*<>{},-]+\.\w+)$/;

const exists = (path: string): boolean =>
  globSync(path.replaceAll(/<[^>]+>/g, "*").replace(/\/$/, ""), { cwd: project }).length > 0;

const at = (path: string, line: number): string => `${path}:${line}`;

describe("documents", () => {
  test("are found", () => {
    expect([...byPath.keys()]).toEqual(
      expect.arrayContaining(["README.md", "CONTRIBUTING.md", "docs/architecture.md"]),
    );
    for (const kind of ["links", "spans", "namedLinks", "diagram"] as const)
      expect(
        all.reduce((sum, document) => sum + document[kind].length, 0),
        kind,
      ).toBeGreaterThan(60);
  });

  test("link to files that exist", () => {
    const dead = all.flatMap(({ path, links }) =>
      links
        .filter(({ target }) => !isExternal(target) && !target.startsWith("#"))
        .filter(({ target }) => !existsSync(join(project, targetOf(path, target))))
        .map(({ target, line }) => `${at(path, line)} → ${target}`),
    );
    expect(dead).toEqual([]);
  });

  test("link to headings that exist", () => {
    const dead = all.flatMap(({ path, links }) =>
      links
        .filter(({ target }) => !isExternal(target) && target.includes("#"))
        .filter(({ target }) => {
          const file = target.startsWith("#") ? path : targetOf(path, target);
          const anchor = decodeURIComponent(target.slice(target.indexOf("#") + 1));
          // Headings of documents only: lines of code move with every change.
          return byPath.get(file)?.anchors.has(anchor) !== true;
        })
        .map(({ target, line }) => `${at(path, line)} → ${target}`),
    );
    expect(dead).toEqual([]);
  });

  test("name paths that exist, in text and in diagrams", () => {
    const gone = all.flatMap(({ path, spans, diagram }) => [
      ...spans
        .filter(({ text }) => pathPattern.test(text) && !generated.test(text) && !exists(text))
        .map(({ text, line }) => `${at(path, line)} \`${text}\``),
      ...diagram.flatMap(({ text, line }) =>
        [...text.matchAll(/\b(?:[\w-]+\/)+[\w-]+\.ts\b/g)]
          .filter(([named]) => !exists(named))
          .map(([named]) => `${at(path, line)} ${named}`),
      ),
    ]);
    expect(gone).toEqual([]);
  });

  test("name identifiers that occur in the file they link to", () => {
    const gone = all.flatMap(({ path, namedLinks }) =>
      namedLinks
        .filter(({ target }) => !isExternal(target) && target.endsWith(".ts"))
        .filter(({ identifier, target }) => {
          const file = join(project, targetOf(path, target));
          if (!existsSync(file)) return false;
          const name = identifier.split(".").at(-1) ?? "";
          return !new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}(?![\\w$])`).test(
            readFileSync(file, "utf8"),
          );
        })
        .map(({ identifier, target, line }) => `${at(path, line)} \`${identifier}\` → ${target}`),
    );
    expect(gone).toEqual([]);
  });

  test("exist when code names them", () => {
    const sources = globSync("{bin,bench,functions,lib,local,shared,test}/**/*.{ts,mjs}", { cwd: project });
    const gone = sources
      .filter((source) => !source.startsWith("test/docs/"))
      .flatMap((source) =>
        [...readFileSync(join(project, source), "utf8").matchAll(/\b(?:docs\/[\w/-]+|[A-Z]+)\.md\b/g)]
          .filter(([named]) => !existsSync(join(project, named)))
          .map(([named]) => `${source}: ${named}`),
      );
    expect(gone).toEqual([]);
  });

  test("name npm scripts that exist", () => {
    const { scripts } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
    const gone = all.flatMap(({ path }) =>
      [...readFileSync(join(project, path), "utf8").matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g)]
        .filter(([, name = ""]) => !(name in scripts))
        .map(([command]) => `${path}: ${command}`),
    );
    expect(gone).toEqual([]);
  });
});
