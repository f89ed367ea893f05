/** Limits the code that every cold start of a function loads. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { folders, writeBundles } from "../../lib/bundle.ts";

/** Of cold starts with twice this much, docs/decisions/0021-bundles.md no longer holds. */
const mostKibibytes = 600;

test("no function is larger than the limit or has the credential providers", async () => {
  const directory = mkdtempSync(join(tmpdir(), "bundle-sizes-test-"));
  const bundles = await writeBundles(directory);
  rmSync(directory, { recursive: true });
  expect(Object.keys(bundles).sort()).toEqual([...folders].sort());
  for (const [folder, { bytes, sources }] of Object.entries(bundles)) {
    expect(bytes / 1024, folder).toBeLessThanOrEqual(mostKibibytes);
    expect(Object.keys(sources).join("\n"), folder).not.toContain("/credential-provider-node/");
  }
});
