/**
 * Everything that the bundles change about the SDK's files, to leave out code that no function runs.
 * test/infrastructure/bundle-sizes.test.ts fails when a new version of the SDK makes one of the changes
 * ineffective.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plugin } from "esbuild";

/** Modules of the SDK, and the file of ours that takes the place of each. */
export const replacedModules = {
  "@aws-sdk/credential-provider-node": join(import.meta.dirname, "lambda-credentials.ts"),
  "@aws-sdk/middleware-endpoint-discovery": join(import.meta.dirname, "no-endpoint-discovery.ts"),
  "@smithy/core/event-streams": join(import.meta.dirname, "no-event-streams.ts"),
} as const;

const otherErrors = /^n0_registry\.registerError\((?!Parameter)\w+\$, \w+\);$/gm;

/**
 * An esbuild plugin that writes the keys of the SDK's schemas as plain strings instead of constants, `{ [_h]:
 * … }`. esbuild cannot tell that such constants are strings, and would keep the schemas of all operations of
 * a client for the one operation that a function calls. Of Systems Manager's 141 classes of errors it leaves only those of parameters;
 * the others keep their names, and become the service's general error.
 */
export const plainSchemaKeys: Plugin = {
  name: "plain-schema-keys",
  setup: ({ onLoad }) => {
    onLoad({ filter: /@aws-sdk.client-\w+.dist-es.schemas.\w+\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const strings = new Map(
        [...source.matchAll(/^const (_\w+) = ("\w+");$/gm)].map(([, name, string]) => [name, string]),
      );
      const plain = source.replace(/\[(_\w+)\](?=:)/g, (key, name) => strings.get(name) ?? key);
      const isOfManager = /client-ssm\W/.test(path);
      return { contents: isOfManager ? plain.replace(otherErrors, "") : plain };
    });
  },
};
