/** What a first visit loads. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
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
const script = [...files.keys()].find((path) => path.endsWith(".js")) ?? "";

test("a first visit loads at most 60 KB, compressed as API Gateway does", () => {
  const sizes = [...files].map(([path, { text }]) => ({
    path,
    bytes: Buffer.byteLength(text),
    compressed: gzipSync(text).length,
  }));
  const total = sizes.reduce((sum, { compressed }) => sum + compressed, 0);
  console.log([...sizes.map((size) => JSON.stringify(size)), `in all ${total} bytes`].join("\n"));
  expect(total).toBeLessThanOrEqual(60_000);
});

test("the page names its files, whose names have a hash of their content", () => {
  const html = files.get("index.html")?.text ?? "";
  const named = [...html.matchAll(/(?:src|href)="\/api\/app\/([^"]+)"/g)].map(([, path]) => path);
  expect(named.sort()).toEqual([...files.keys()].filter((path) => path !== "index.html").sort());
  expect(script).toMatch(/^assets\/main-[A-Z0-9]{8}\.js$/);
});

test("nothing in it names another host but the two that it attributes its data to", () => {
  const hosts = [...files.values()].flatMap(({ text }) =>
    [...text.matchAll(/https?:\/\/([\w.-]+)/g)].map(([, host]) => host),
  );
  const examples = ["hooks.example.com", "hooks.slack.com"];
  const namespaces = ["www.w3.org"];
  expect([...new Set(hosts)].sort()).toEqual(
    [...examples, ...namespaces, "creativecommons.org", "haveibeenpwned.com"].sort(),
  );
});

test("the same sources give the same files", async () => {
  await bundlePage(join(directory, "again"));
  const again = readPageFiles(join(directory, "again"));
  expect([...again].sort()).toEqual([...files].sort());
  expect(readFileSync(join(directory, "again", script), "utf8")).toBe(files.get(script)?.text);
});
