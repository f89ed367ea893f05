/** Bundles all functions with one call of esbuild, which then reads and parses each shared file once. */
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Code } from "aws-cdk-lib/aws-lambda";
import { build, type Plugin } from "esbuild";
import { everyRoute } from "../functions/parts.ts";
import { onDemandWorkers, queueWorkers, scheduledWorkers } from "../functions/workers.ts";
import { noticesOf } from "./notices.ts";
import { bundlePage } from "./page-bundle.ts";

const project = join(import.meta.dirname, "..");

/** Gives the code of a function by its folder below `functions/`. */
export type Bundles = (folder: string) => Code;

/**
 * The folder below `functions/` of each function: endpoints, workers, the authorizer, `refuse-route`, `scim` and
 * `serve-dashboard`.
 */
export const folders: readonly string[] = [
  ...new Set([
    "authorize",
    "refuse-route",
    "scim",
    "serve-dashboard",
    ...everyRoute.map(({ name }) => name),
    ...[...queueWorkers, ...scheduledWorkers, ...onDemandWorkers].map(({ folder }) => folder),
  ]),
];

/**
 * What is in a bundle: its size in bytes, and how many of them come from each source file (a path below the project).
 */
export type Contents = { bytes: number; sources: Record<string, number> };

/** The clients of AWS tell their version in each request, and would bring their whole package.json for it. */
const versionsAlone: Plugin = {
  name: "versions alone",
  setup: ({ onLoad }) => {
    onLoad({ filter: /\/@aws-sdk\/[^/]+\/package\.json$/ }, async ({ path }) => {
      const { version } = JSON.parse(await readFile(path, "utf8"));
      return { contents: JSON.stringify({ version }), loader: "json" };
    });
  },
};

/**
 * Bundles the `functions/<folder>/handler.ts` of each function into `<directory>/<folder>/index.js`. The
 * dashboard's page goes into the folder of the function that serves it. Beside each bundle is a file with the
 * licenses of its packages. Beside all bundles is `contents.json`, the `Contents` by folder. The same sources
 * give the same bytes, wherever the checkout is. Throws if a handler is missing or does not build. `some`:
 * without them all.
 */
export async function bundleFunctions(directory: string, some = folders): Promise<Bundles> {
  const outdir = resolve(directory);
  const { metafile } = await build({
    absWorkingDir: project,
    entryPoints: Object.fromEntries(
      some.map((folder) => [`${folder}/index`, `functions/${folder}/handler.ts`]),
    ),
    outdir,
    bundle: true,
    // CommonJS: an ES module that imports `node:http` reads all its exports, also by `import()`. One of them
    // loads Node.js's whole `fetch`.
    format: "cjs",
    supported: { "dynamic-import": false },
    // What it is called in CommonJS.
    define: { "import.meta.dirname": "__dirname" },
    platform: "node",
    target: "node24",
    // Packages with both kinds of modules give their ES modules, from which tree shaking removes more.
    mainFields: ["module", "main"],
    alias: {
      "@aws-sdk/credential-provider-node": join(import.meta.dirname, "lambda-credentials.ts"),
      "@peculiar/x509": join(import.meta.dirname, "no-certificates.ts"),
    },
    plugins: [versionsAlone],
    minify: true,
    // Logs contain names of classes and functions.
    keepNames: true,
    legalComments: "none",
    logLevel: "error",
    metafile: true,
  });
  // Without it, Node.js would take the package.json of this project, which says that files are ES modules.
  for (const folder of some) {
    await writeFile(join(outdir, folder, "package.json"), '{ "type": "commonjs" }\n');
  }
  await bundlePage(join(outdir, "serve-dashboard", "page"));
  const contents: Record<string, Contents> = Object.fromEntries(
    Object.values(metafile.outputs).map(({ entryPoint = "", bytes, inputs }) => [
      entryPoint.split("/")[1],
      {
        bytes,
        sources: Object.fromEntries(
          Object.entries(inputs)
            .map(([source, { bytesInOutput }]) => [source, bytesInOutput] as const)
            .filter(([, inOutput]) => inOutput > 0),
        ),
      },
    ]),
  );
  for (const [folder, { sources }] of Object.entries(contents)) {
    await writeFile(join(outdir, folder, "licenses.txt"), noticesOf(Object.keys(sources)));
  }
  await writeFile(join(outdir, "contents.json"), JSON.stringify(contents));
  return (folder) => Code.fromAsset(join(outdir, folder));
}
