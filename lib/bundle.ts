/** Bundles every function in one go: esbuild shares its work between them, which one call per function would not. */
import { join } from "node:path";
import { Code } from "aws-cdk-lib/aws-lambda";
import { buildSync } from "esbuild";
import { routes } from "../functions/routes.ts";
import { onDemandWorkers, queueWorkers, scheduledWorkers } from "../functions/workers.ts";

const project = join(import.meta.dirname, "..");

/** CommonJS dependencies call `require` for Node's own modules; an ES module has none. */
const requireForDependencies =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** What no function needs, or not as it is, by what takes its place in the bundles. */
const replacements = {
  "node:http": join(import.meta.dirname, "builtin-http.ts"),
  "@aws-sdk/credential-provider-node": join(import.meta.dirname, "lambda-credentials.ts"),
  "@aws-sdk/middleware-endpoint-discovery": join(import.meta.dirname, "no-endpoint-discovery.ts"),
  "@smithy/core/event-streams": join(import.meta.dirname, "no-event-streams.ts"),
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
 * Writes `<directory>/<folder>/index.mjs` for the `functions/<folder>/handler.ts` of each function. The same sources give
 * the same bytes, wherever the checkout is. Throws if a handler is missing or does not build.
 */
export function bundleFunctions(directory: string): Bundles {
  writeBundles(directory);
  return (folder) => Code.fromAsset(join(directory, folder));
}

/** As `bundleFunctions`, and tells what is in each bundle, by folder. */
export function writeBundles(directory: string): Record<string, Contents> {
  const { metafile } = buildSync({
    absWorkingDir: project,
    entryPoints: Object.fromEntries(
      folders.map((folder) => [`${folder}/index`, `functions/${folder}/handler.ts`]),
    ),
    outdir: directory,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    // The ES modules of packages that have both: tree shaking makes them smaller.
    mainFields: ["module", "main"],
    alias: replacements,
    banner: { js: requireForDependencies },
    minify: true,
    // Names of classes and functions end up in logs.
    keepNames: true,
    legalComments: "none",
    logLevel: "error",
    metafile: true,
  });
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
