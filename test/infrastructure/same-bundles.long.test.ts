import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folders, writeBundles } from "../../lib/bundle.ts";

test("the same sources give the same bundles, byte by byte", async () => {
  const directories = ["one", "other"].map((name) => mkdtempSync(join(tmpdir(), `bundles-${name}-`)));
  for (const each of directories) await writeBundles(each);
  const differing = folders.filter((folder) => {
    const [first, second] = directories.map((each) => readFileSync(join(each, folder, "index.js"), "utf8"));
    return first !== second;
  });
  expect(differing).toEqual([]);
  for (const each of directories) rmSync(each, { recursive: true });
});
