/** Limits the code that every cold start of a function loads. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { folders, writeBundles } from "../../lib/bundle.ts";

/** Of cold starts with twice this much, docs/decisions/0021-bundles.md no longer holds. */
const mostKibibytes = 600;

const directories = ["one", "other"].map((name) => mkdtempSync(join(tmpdir(), `bundles-${name}-`)));
const bundled = Promise.all(directories.map(writeBundles));
afterAll(() => {
  for (const directory of directories) rmSync(directory, { recursive: true });
});

test("no function is larger than the limit or has the credential providers", async () => {
  const [bundles = {}] = await bundled;
  expect(Object.keys(bundles).sort()).toEqual([...folders].sort());
  for (const [folder, { bytes, sources }] of Object.entries(bundles)) {
    expect(bytes / 1024, folder).toBeLessThanOrEqual(mostKibibytes);
    expect(Object.keys(sources).join("\n"), folder).not.toContain("/credential-provider-node/");
  }
});

test("the same sources give the same bundles, byte by byte", async () => {
  await bundled;
  for (const folder of folders) {
    const [first, second] = directories.map((each) => readFileSync(join(each, folder, "index.js"), "utf8"));
    expect(first === second, folder).toBe(true);
  }
});
