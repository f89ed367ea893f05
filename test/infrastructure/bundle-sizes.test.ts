/**
 * Limits the code of each function, which every cold start loads, and checks that left-out code stays out.
 */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type Contents, folders, writeBundles } from "../../lib/bundle.ts";
import { replacedModules } from "../../lib/replaced-modules.ts";

const project = join(import.meta.dirname, "..", "..");

const directory = mkdtempSync(join(tmpdir(), "bundle-sizes-test-"));
const bundles: Record<string, Contents> = await writeBundles(directory);
afterAll(() => rmSync(directory, { recursive: true }));

/**
 * Limits in KiB, a little above the current sizes. In functions that use the table, the SDK's DynamoDB client
 * takes about 190 (SQS another 30), zod/mini 25 to 45 and the logger 20.
 */
const limits: Record<string, number> = {
  "acknowledge-breach": 289,
  "acknowledge-breaches": 320,
  "acknowledge-findings": 310,
  "add-domain": 420,
  "add-email": 294,
  "assign-email": 293,
  authorize: 244,
  "change-alert-config": 413,
  "change-email": 294,
  "change-member": 289,
  "change-organization": 321,
  "change-team": 289,
  "check-domain": 321,
  "check-emails": 332,
  "commit-import": 299,
  "confirm-recipient": 256,
  "create-alert-config": 382,
  "create-api-key": 288,
  "create-sign-in-link": 299,
  "create-team": 287,
  "delete-alert-config": 319,
  "delete-team": 282,
  "deliver-alert": 405,
  "end-session": 252,
  "get-acknowledgement": 286,
  "get-organization": 281,
  "get-overview": 302,
  "get-recipient": 256,
  "get-session": 268,
  "get-sign-in": 252,
  "invite-member": 322,
  "list-activity": 279,
  "list-alert-configs": 283,
  "list-api-keys": 282,
  "list-breaches": 282,
  "list-deliveries": 297,
  "list-domains": 280,
  "list-emails": 289,
  "list-findings": 287,
  "list-members": 282,
  "list-scans": 280,
  "list-sessions": 269,
  "list-teams": 281,
  "look-up-emails": 401,
  "mail-sign-in-link": 325,
  "plan-scan": 398,
  "preview-import": 350,
  "redeem-sign-in-link": 278,
  "redeliver-alert": 312,
  "redispatch-alerts": 296,
  "refuse-route": 39,
  "remove-domain": 283,
  "remove-email": 282,
  "remove-member": 283,
  "revoke-api-key": 281,
  "revoke-other-sessions": 254,
  "revoke-session": 262,
  "serve-dashboard": 10,
  "start-scan": 314,
  "start-scheduled-scan": 309,
  sweep: 343,
  "sync-catalog": 339,
  "test-alert-config": 312,
  "unsubscribe-recipient": 256,
};

const kibibytes = (bytes: number) => Math.round((bytes / 1024) * 10) / 10;

/** The innermost package that a source file belongs to, or the top-level folder of a file of ours. */
const packageOf = (source: string) =>
  [...source.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1)?.[1] ?? source.split("/")[0] ?? "";

const packagesOf = (folder: string): Record<string, number> => {
  const packages: Record<string, number> = {};
  for (const [source, bytes] of sourcesOf(folder)) {
    packages[packageOf(source)] = (packages[packageOf(source)] ?? 0) + bytes;
  }
  return packages;
};

const foldersWith = (name: string) => folders.filter((folder) => name in packagesOf(folder)).sort();

test("every function has a limit, and none is far below its limit", () => {
  expect(Object.keys(bundles).sort()).toEqual(Object.keys(limits).sort());
  const slack = folders.filter(
    (folder) => (limits[folder] ?? 0) - kibibytes(bundles[folder]?.bytes ?? 0) > 25,
  );
  expect(slack).toEqual([]);
});

test.each([...folders].sort())("%s stays within its limit", (folder) => {
  const size = kibibytes(bundles[folder]?.bytes ?? 0);
  const largest = Object.entries(packagesOf(folder))
    .sort(([, one], [, other]) => other - one)
    .slice(0, 6)
    .map(([name, bytes]) => `${name} ${kibibytes(bytes)}`);
  console.log(`${folder}: ${size} KiB (${largest.join(", ")})`);
  expect(size, `in ${folder}: ${largest.join(", ")}`).toBeLessThanOrEqual(limits[folder] ?? 0);
});

/** The bytes of each source file that really is in a function's bundle. */
const sourcesOf = (folder: string): [string, number][] =>
  Object.entries(bundles[folder]?.sources ?? {}).filter(([, bytes]) => bytes > 0);

describe("the changes to the SDK's files take effect", () => {
  const foldersWithClient = folders.filter((folder) =>
    sourcesOf(folder).some(([source]) => source.includes("node_modules/@aws-sdk/client-dynamodb/")),
  );

  test.each(Object.entries(replacedModules))(
    "%s is replaced in all functions that use the table",
    (_, file) => {
      expect(foldersWithClient.length).toBeGreaterThan(20);
      const source = relative(project, file);
      const without = foldersWithClient.filter(
        (folder) => !sourcesOf(folder).some(([each]) => each === source),
      );
      expect(without).toEqual([]);
    },
  );

  test("functions contain only the schemas of operations that they call", () => {
    const schemas = new Map<string, number>();
    for (const [source, bytes] of folders.flatMap(sourcesOf)) {
      if (/@aws-sdk\/client-[^/]+\/.*\/schemas\//.test(source)) {
        schemas.set(source, Math.max(bytes, schemas.get(source) ?? 0));
      }
    }
    expect(schemas.size).toBeGreaterThanOrEqual(4);
    for (const [source, bytes] of schemas) {
      expect(bytes / statSync(join(project, source)).size, source).toBeLessThan(0.3);
    }
  });
});

describe("only functions that need a package contain it", () => {
  test.each([
    ["busboy", ["preview-import"]],
    ["csv-parse", ["preview-import"]],
    ["tldts", ["add-domain"]],
    ["ipaddr.js", ["authorize", "change-alert-config", "create-alert-config", "deliver-alert"]],
    [
      "@aws-sdk/client-sesv2",
      ["change-alert-config", "create-alert-config", "deliver-alert", "mail-sign-in-link"],
    ],
    [
      "@aws-sdk/client-ssm",
      [
        "authorize",
        "change-alert-config",
        "create-alert-config",
        "deliver-alert",
        "look-up-emails",
        "plan-scan",
        "sync-catalog",
      ],
    ],
    ["@aws-sdk/client-secrets-manager", ["look-up-emails", "plan-scan", "sync-catalog"]],
    // Parts of the SDK that lib/replaced-modules.ts replaces, or that no function uses.
    ["@aws-sdk/credential-provider-node", []],
    ["@aws-sdk/middleware-endpoint-discovery", []],
    ["undici", []],
  ])("%s", (name, expected) => {
    expect(foldersWith(name)).toEqual(expected);
  });

  test("refuse-route contains neither the table nor contracts", () => {
    const packages = Object.keys(packagesOf("refuse-route"));
    expect(packages.filter((name) => /^(zod|@aws-sdk\/|@smithy\/)/.test(name))).toEqual([]);
  });

  test("no function contains event streams or a language of zod other than English", () => {
    for (const folder of folders) {
      expect(
        sourcesOf(folder)
          .map(([source]) => source)
          .filter(
            (source) =>
              /@smithy\/core\/.*\/event-streams\//.test(source) || /zod\/v4\/locales\/(?!en\.)/.test(source),
          ),
      ).toEqual([]);
    }
  });
});
