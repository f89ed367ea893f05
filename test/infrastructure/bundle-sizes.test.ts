/** How large each function's code is: what it costs to load, at every cold start. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Contents, folders, writeBundles } from "../../lib/bundle.ts";

const directory = mkdtempSync(join(tmpdir(), "bundle-sizes-test-"));
const bundles: Record<string, Contents> = await writeBundles(directory);
afterAll(() => rmSync(directory, { recursive: true }));

/**
 * Limits in KiB, a few above what each is. Of those with a table about 190 are the SDK's DynamoDB client (with SQS's another
 * 30), 25 to 45 zod/mini, 20 the logger.
 */
const limits: Record<string, number> = {
  "acknowledge-breach": 277,
  "add-email": 283,
  authorize: 203,
  "change-alert-config": 309,
  "change-email": 282,
  "check-emails": 311,
  "commit-import": 288,
  "create-alert-config": 307,
  "delete-alert-config": 279,
  "deliver-alert": 365,
  "list-activity": 269,
  "list-alert-configs": 285,
  "list-breaches": 274,
  "list-emails": 279,
  "list-scans": 270,
  "look-up-emails": 361,
  "plan-scan": 361,
  "preview-import": 331,
  "redispatch-alerts": 285,
  "refuse-route": 35,
  "remove-email": 282,
  "start-scan": 297,
  "start-scheduled-scan": 286,
  sweep: 324,
  "sync-catalog": 305,
};

const kibibytes = (bytes: number) => Math.round((bytes / 1024) * 10) / 10;

/** The innermost package of a source file; of ours the first folder. */
const packageOf = (source: string) =>
  [...source.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1)?.[1] ?? source.split("/")[0] ?? "";

const packagesOf = (folder: string): Record<string, number> => {
  const packages: Record<string, number> = {};
  for (const [source, bytes] of Object.entries(bundles[folder]?.sources ?? {})) {
    if (bytes > 0) packages[packageOf(source)] = (packages[packageOf(source)] ?? 0) + bytes;
  }
  return packages;
};

const foldersWith = (name: string) => folders.filter((folder) => name in packagesOf(folder)).sort();

test("every function has a limit, and none is much below it", () => {
  expect(Object.keys(bundles).sort()).toEqual(Object.keys(limits).sort());
  const slack = folders.filter(
    (folder) => (limits[folder] ?? 0) - kibibytes(bundles[folder]?.bytes ?? 0) > 25,
  );
  expect(slack).toEqual([]);
});

test.each([...folders].sort())("%s stays small", (folder) => {
  const size = kibibytes(bundles[folder]?.bytes ?? 0);
  const largest = Object.entries(packagesOf(folder))
    .sort(([, one], [, other]) => other - one)
    .slice(0, 6)
    .map(([name, bytes]) => `${name} ${kibibytes(bytes)}`);
  console.log(`${folder}: ${size} KiB (${largest.join(", ")})`);
  expect(size, `in ${folder}: ${largest.join(", ")}`).toBeLessThanOrEqual(limits[folder] ?? 0);
});

describe("a package is only where it is needed", () => {
  test.each([
    ["busboy", ["preview-import"]],
    ["csv-parse", ["preview-import"]],
    ["ipaddr.js", ["change-alert-config", "create-alert-config", "deliver-alert"]],
    ["@aws-sdk/client-sesv2", ["deliver-alert"]],
    ["@aws-sdk/client-secrets-manager", ["look-up-emails", "plan-scan", "sync-catalog"]],
    // The SDK's own ways that no function goes.
    ["@aws-sdk/credential-provider-node", []],
    ["@aws-sdk/middleware-endpoint-discovery", []],
    ["undici", []],
  ])("%s", (name, expected) => {
    expect(foldersWith(name)).toEqual(expected);
  });

  test("neither table nor contracts in what refuses undeclared routes", () => {
    const packages = Object.keys(packagesOf("refuse-route"));
    expect(packages.filter((name) => /^(zod|@aws-sdk\/|@smithy\/)/.test(name))).toEqual([]);
  });

  test("no event streams and no language but English", () => {
    for (const folder of folders) {
      const sources = Object.entries(bundles[folder]?.sources ?? {}).filter(([, bytes]) => bytes > 0);
      expect(
        sources
          .map(([source]) => source)
          .filter(
            (source) =>
              /@smithy\/core\/.*\/event-streams\//.test(source) || /zod\/v4\/locales\/(?!en\.)/.test(source),
          ),
      ).toEqual([]);
    }
  });
});
