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

/** The code of the functions, by folder. */
export type Bundles = (folder: string) => Code;

/**
 * Writes `<directory>/<folder>/index.mjs` for the `functions/<folder>/handler.ts` of each endpoint, each worker, the
 * authorizer and the function that refuses undeclared routes. The same sources give the same bytes, wherever the checkout
 * is. Throws if a handler is missing or does not build.
 */
export function bundleFunctions(directory: string): Bundles {
  const folders = new Set([
    "authorize",
    "refuse-route",
    ...routes.map(({ name }) => name),
    ...[...queueWorkers, ...scheduledWorkers, ...onDemandWorkers].map(({ folder }) => folder),
  ]);
  buildSync({
    absWorkingDir: project,
    entryPoints: Object.fromEntries(
      [...folders].map((folder) => [`${folder}/index`, `functions/${folder}/handler.ts`]),
    ),
    outdir: directory,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    // The ES modules of packages that have both: tree shaking makes them smaller.
    mainFields: ["module", "main"],
    alias: { "@aws-sdk/credential-provider-node": join(import.meta.dirname, "lambda-credentials.ts") },
    banner: { js: requireForDependencies },
    minify: true,
    // Names of classes and functions end up in logs.
    keepNames: true,
    legalComments: "none",
    logLevel: "error",
  });
  return (folder) => Code.fromAsset(join(directory, folder));
}
