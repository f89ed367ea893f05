import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { readPageFiles } from "../../functions/serve-dashboard/files.ts";
import { bundlePage } from "../../lib/page-bundle.ts";

const directory = mkdtempSync(join(tmpdir(), "page-test-"));
afterAll(() => rmSync(directory, { recursive: true }));
await bundlePage(join(directory, "page"));
const files = readPageFiles(join(directory, "page"));
const textOf = (path: string): string => files.get(path)?.text ?? "";
const html = textOf("index.html");

/** Paths of files that the text names after what `before` matches. */
const named = (text: string, before: RegExp): string[] =>
  [...text.matchAll(new RegExp(`${before.source}"(?:\\.|/api/app/assets)/([\\w-]+\\.\\w+)"`, "g"))].map(
    ([, name]) => `assets/${name}`,
  );

/** A script and all that it imports, but not what it loads later. */
const withImports = (path: string, known: ReadonlySet<string> = new Set()): ReadonlySet<string> =>
  known.has(path)
    ? known
    : named(textOf(path), /(?:from|import)\s?/).reduce<ReadonlySet<string>>(
        (all, imported) => withImports(imported, all),
        new Set([...known, path]),
      );

const [main = ""] = named(html, /<script type="module" src=/);
/** The scripts of pages, by their names, such as "overview". */
const pages = Object.fromEntries(
  named(textOf(main), /import\(/).map((path) => [/\/([a-z-]+)-\w+\.js$/.exec(path)?.[1] ?? path, path]),
);
const visited = (page: string): string[] => [
  "index.html",
  "icon.svg",
  ...named(html, /<link rel="stylesheet" href=/),
  ...withImports(page, withImports(main)),
];

test("a first visit of any page loads at most 45 KB, compressed as API Gateway does", () => {
  const sizes = Object.entries(pages).map(([name, page]) => ({
    name,
    files: visited(page).length,
    bytes: visited(page).reduce((sum, path) => sum + gzipSync(textOf(path)).length, 0),
  }));
  console.log(sizes.map((size) => JSON.stringify(size)).join("\n"));
  expect(Object.keys(pages)).toEqual(expect.arrayContaining(["overview", "sign-in", "breach", "person"]));
  expect(sizes.filter(({ bytes }) => bytes > 45_000)).toEqual([]);
});

test("no page is loaded with another, and no file is left over", () => {
  const paths = Object.values(pages);
  for (const page of paths) expect(visited(page).filter((path) => paths.includes(path))).toEqual([page]);
  // A page may load a dialog in its turn, and that a part of itself.
  const loaded = new Set(["licenses.txt"]);
  const load = (path: string): void => {
    if (loaded.has(path)) return;
    loaded.add(path);
    for (const next of [...visited(path), ...named(textOf(path), /import\(/)]) load(next);
  };
  paths.forEach(load);
  expect([...loaded].sort()).toEqual([...files.keys()].sort());
});

test("names have a hash; the page names all that its first script imports", () => {
  const preloaded = named(html, /<link rel="modulepreload" href=/);
  expect([main, ...preloaded].sort()).toEqual([...withImports(main)].sort());
  for (const path of files.keys())
    if (path.startsWith("assets/")) expect(path).toMatch(/^assets\/[a-z-]+-[A-Z0-9]{8}\.(?:js|css)$/);
});

test("nothing in it names another host but the two that it attributes its data to", () => {
  const hosts = [...files.values()].flatMap(({ text }) =>
    [...text.matchAll(/https?:\/\/(\w[\w.-]*)/g)].map(([, host]) => host),
  );
  const examples = ["hooks.example.com", "hooks.slack.com"];
  const namespaces = ["www.w3.org"];
  expect([...new Set(hosts)].sort()).toEqual(
    [...examples, ...namespaces, "creativecommons.org", "haveibeenpwned.com"].sort(),
  );
});
