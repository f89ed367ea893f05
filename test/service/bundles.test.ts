/** What is in the bundles of functions, and in the files with licenses beside them. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, inject, onTestFinished, test } from "vitest";
import { bundleFunctions, type Contents, folders } from "../../lib/bundle.ts";
import { noticesOf } from "../../lib/notices.ts";

/** Of cold starts with twice this much, docs/decisions/0021-bundles.md no longer holds. */
const mostKibibytes = 620;

const project = join(import.meta.dirname, "..", "..");
/** Those of the shared service. */
const directory = join(inject("assembly"), "bundles");
const bundles: Record<string, Contents> = JSON.parse(readFileSync(join(directory, "contents.json"), "utf8"));

const licensesIn = (folder: string): string => readFileSync(join(directory, folder, "licenses.txt"), "utf8");

test("every function has a bundle", () => {
  expect(Object.keys(bundles).sort()).toEqual([...folders].sort());
});

describe.each(folders)("the bundle of %s", (folder) => {
  const { bytes = 0, sources = {} } = bundles[folder] ?? {};

  test("is not larger than the limit and has no credential providers", () => {
    expect(bytes / 1024).toBeLessThanOrEqual(mostKibibytes);
    expect(Object.keys(sources).join("\n")).not.toContain("/credential-provider-node/");
  });

  test("has the licenses of its packages beside it", () => {
    const licenses = licensesIn(folder);
    const names = Object.keys(sources).flatMap((source) => {
      const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(source) ?? [];
      return name === undefined ? [] : [name];
    });
    for (const name of new Set(names))
      expect(licenses).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+$`, "m"));
  });
});

test("the sources give the same bundles again, byte by byte", async () => {
  const some = ["authorize", "check-emails", "serve-dashboard"];
  const again = mkdtempSync(join(tmpdir(), "bundles-"));
  onTestFinished(() => rmSync(again, { recursive: true }));
  await bundleFunctions(again, some);
  for (const folder of some) {
    const files = (made: string) => readdirSync(join(made, folder), { recursive: true }) as string[];
    expect(files(again).sort()).toEqual(files(directory).sort());
    for (const file of files(again).filter((each) => /\.\w+$/.test(each))) {
      const [first, second] = [directory, again].map((made) =>
        readFileSync(join(made, folder, file), "utf8"),
      );
      expect(second === first, `${folder} ${file}`).toBe(true);
    }
  }
});

describe("licenses", () => {
  test("of the page's packages are beside it", () => {
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
