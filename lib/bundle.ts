/** Bundles every function in one go: esbuild shares its work between them, which one call per function would not. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Code } from "aws-cdk-lib/aws-lambda";
import { build, type Plugin } from "esbuild";
import { routes } from "../functions/routes.ts";
import { onDemandWorkers, queueWorkers, scheduledWorkers } from "../functions/workers.ts";

const project = join(import.meta.dirname, "..");

/** What no function needs, or not as it is, by what takes its place in the bundles. */
const replacements = {
  "@aws-sdk/credential-provider-node": join(import.meta.dirname, "lambda-credentials.ts"),
  "@aws-sdk/middleware-endpoint-discovery": join(import.meta.dirname, "no-endpoint-discovery.ts"),
  "@smithy/core/event-streams": join(import.meta.dirname, "no-event-streams.ts"),
};

/**
 * The SDK's schemas have constants for keys, `{ [_h]: … }`. esbuild does not know that these are strings, and would keep the
 * schemas of everything that a client can do for the one operation that is used.
 */
const plainKeys: Plugin = {
  name: "plain-keys",
  setup: ({ onLoad }) => {
    onLoad({ filter: /@aws-sdk.client-\w+.dist-es.schemas.\w+\.js$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const strings = new Map(
        [...source.matchAll(/^const (_\w+) = ("\w+");$/gm)].map(([, name, string]) => [name, string]),
      );
      return { contents: source.replace(/\[(_\w+)\](?=:)/g, (key, name) => strings.get(name) ?? key) };
    });
  },
};

/** The code of the functions, by folder. */
export type Bundles = (folder: string) => Code;

/** The folder of each function below `functions/`: endpoints, workers, the authorizer and what refuses undeclared routes. */
export const folders: readonly string[] = [
  ...new Set([
    "authorize",
    "refuse-route",
    ...routes.map(({ name }) => name),
    ...[...queueWorkers, ...scheduledWorkers, ...onDemandWorkers].map(({ folder }) => folder),
  ]),
];

/** What a bundle is made of: the bytes that each source file, as a path below the project, has in it. */
export type Contents = { bytes: number; sources: Record<string, number> };

/**
 * Writes `<directory>/<folder>/index.js` for the `functions/<folder>/handler.ts` of each function. The same sources give
 * the same bytes, wherever the checkout is. Fails if a handler is missing or does not build.
 */
export async function bundleFunctions(directory: string): Promise<Bundles> {
  await writeBundles(directory);
  return (folder) => Code.fromAsset(join(directory, folder));
}

/** As `bundleFunctions`, and tells what is in each bundle, by folder. */
export async function writeBundles(directory: string): Promise<Record<string, Contents>> {
  const { metafile } = await build({
    absWorkingDir: project,
    entryPoints: Object.fromEntries(
      folders.map((folder) => [`${folder}/index`, `functions/${folder}/handler.ts`]),
    ),
    outdir: directory,
    bundle: true,
    // CommonJS: an ES module that imports `node:http`, or `import()`, reads all its properties, and one loads all of fetch.
    format: "cjs",
    supported: { "dynamic-import": false },
    platform: "node",
    target: "node24",
    // The ES modules of packages that have both: tree shaking makes them smaller.
    mainFields: ["module", "main"],
    alias: replacements,
    plugins: [plainKeys],
    minify: true,
    // Names of classes and functions end up in logs.
    keepNames: true,
    legalComments: "none",
    logLevel: "error",
    metafile: true,
  });
  // What the code is, wherever it lies: this project's own package.json says that its files are ES modules.
  for (const folder of folders) {
    await writeFile(join(directory, folder, "package.json"), '{ "type": "commonjs" }\n');
  }
  return Object.fromEntries(
    Object.values(metafile.outputs).map(({ entryPoint = "", bytes, inputs }) => [
      entryPoint.split("/")[1],
      {
        bytes,
        sources: Object.fromEntries(
          Object.entries(inputs).map(([source, { bytesInOutput }]) => [source, bytesInOutput]),
        ),
      },
    ]),
  );
}
