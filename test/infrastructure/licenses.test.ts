import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { writeBundles } from "../../lib/bundle.ts";
import { noticesOf } from "../../lib/notices.ts";

const project = join(import.meta.dirname, "..", "..");
const directory = mkdtempSync(join(tmpdir(), "licenses-test-"));
const bundles = await writeBundles(directory);
afterAll(() => rmSync(directory, { recursive: true }));

const licensesIn = (folder: string): string => readFileSync(join(directory, folder, "licenses.txt"), "utf8");

describe("the licenses beside each bundle", () => {
  test.each(Object.keys(bundles))("%s", (folder) => {
    const sources = Object.keys(bundles[folder]?.sources ?? {});
    const names = sources.flatMap((source) => {
      const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source) ?? [];
      return name === undefined ? [] : [name];
    });
    const licenses = licensesIn(folder);
    for (const name of new Set(names))
      expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, "m"));
  });

  test("are the page's too", () => {
    const licenses = licensesIn("serve-dashboard/page");
    for (const name of ["preact", "@preact/signals", "@preact/signals-core"])
      expect(licenses).toMatch(new RegExp(`^${name} \\d`, "m"));
    expect(licenses).toContain("Permission is hereby granted, free of charge");
  });

  test("have each text once, under all packages that share it", () => {
    const sources = ["csv-parse", "busboy", "streamsearch"].map((name) => `node_modules/${name}/index.js`);
    const notices = noticesOf(sources);
    expect(notices).toMatch(/^busboy [\d.]+\nstreamsearch [\d.]+\n\nCopyright Brian White/);
    expect(notices.match(/Brian White/g)).toHaveLength(1);
    expect(noticesOf(["shared/aws/table/table.ts"])).toBe("");
  });
});

test("the bill of materials names every direct dependency with its version", () => {
  const bill = JSON.parse(
    execFileSync("npm", ["run", "--silent", "sbom"], { cwd: project, encoding: "utf8", maxBuffer: 2 ** 26 }),
  ) as { bomFormat: string; components: { name: string; version: string; purl: string }[] };
  expect(bill.bomFormat).toBe("CycloneDX");
  const { dependencies } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  for (const [name, version] of Object.entries<string>(dependencies)) {
    expect(bill.components).toContainEqual(
      expect.objectContaining({ version, purl: expect.stringContaining(name.replace("@", "%40")) }),
    );
  }
});
