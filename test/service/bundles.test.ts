/** What is in the bundles of functions, and in the files with licenses beside them. */
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, inject, test } from "vitest";
import { folders } from "../../lib/bundle.ts";
import { noticesOf } from "../../lib/notices.ts";

/** Of cold starts with twice this much, docs/decisions/0021-bundles.md no longer holds. */
const mostKibibytes = 600;

const project = join(import.meta.dirname, "..", "..");
const directory = join(inject("assembly"), "bundles");

const licensesIn = (folder: string): string => readFileSync(join(directory, folder, "licenses.txt"), "utf8");

test("the bundle of every function is not larger than the limit", () => {
  for (const folder of folders) {
    const { size } = statSync(join(directory, folder, "index.js"));
    expect(size / 1024, folder).toBeLessThanOrEqual(mostKibibytes);
  }
});

test("no bundle has the SDK's providers of credentials", () => {
  const sentence = "Could not load credentials from any providers";
  const provider = "node_modules/@aws-sdk/credential-provider-node/dist-es/defaultProvider.js";
  expect(readFileSync(join(project, provider), "utf8")).toContain(sentence);
  const having = folders.filter((folder) =>
    readFileSync(join(directory, folder, "index.js"), "utf8").includes(sentence),
  );
  expect(having).toEqual([]);
});

describe("licenses", () => {
  test("of a function's packages are beside its bundle", () => {
    for (const name of ["@aws-sdk/client-dynamodb", "busboy", "zod"])
      expect(licensesIn("preview-import")).toMatch(new RegExp(`^${name} \\d`, "m"));
  });

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
