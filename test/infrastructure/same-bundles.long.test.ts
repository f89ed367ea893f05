import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { folders, writeBundles } from "../../lib/bundle.ts";

const [first, second] = ["one", "other"].map((name) => mkdtempSync(join(tmpdir(), `bundles-${name}-`))) as [
  string,
  string,
];
const bundles = await writeBundles(first);
afterAll(() => {
  for (const each of [first, second]) rmSync(each, { recursive: true });
});

const read = (directory: string, folder: string, file: string): string =>
  readFileSync(join(directory, folder, file), "utf8");

test("the same sources give the same bundles, byte by byte", async () => {
  await writeBundles(second);
  const differing = folders.filter(
    (folder) => read(first, folder, "index.js") !== read(second, folder, "index.js"),
  );
  expect(differing).toEqual([]);
});

test("every bundle has the licenses of its packages beside it", () => {
  for (const folder of folders) {
    const licenses = read(first, folder, "licenses.txt");
    for (const source of Object.keys(bundles[folder]?.sources ?? {})) {
      const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source) ?? [];
      if (name !== undefined) expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, "m"));
    }
  }
});
