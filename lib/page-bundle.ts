/** Bundles the dashboard's page. */
import { globSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import { noticesOf } from "./notices.ts";

const project = join(import.meta.dirname, "..");
const base = "/api/app";
const addressOf = (output: string): string => `${base}/assets/${output.split("/").at(-1)}`;
const preload = (address: string): string => `<link rel="modulepreload" href="${address}" />`;

/**
 * Gives every page all modules that stand outside `dashboard/pages/`, and so one script of them. Without it,
 * esbuild would make a script for each set of pages that uses the same modules.
 */
const commonScript: Plugin = {
  name: "common-script",
  setup: ({ onLoad, onResolve }) => {
    const common = globSync("dashboard/{*,{api,components,text}/*}.{ts,tsx}", { cwd: project })
      .filter((path) => !/(main|app)\.tsx$/.test(path))
      .sort();
    onResolve({ filter: /^common$/ }, () => ({ path: "common", namespace: "common" }));
    onLoad({ filter: /^common$/, namespace: "common" }, () => ({
      contents: common.map((path) => `import "./${path}";`).join("\n"),
      resolveDir: project,
    }));
    onLoad({ filter: /dashboard\/(pages\/.*|main)\.tsx$/ }, async ({ path }) => ({
      contents: `${await readFile(path, "utf8")}\nimport "common";\n`,
      loader: "tsx",
    }));
  },
};

/**
 * Writes the page's files: `index.html`, `icon.svg`, `licenses.txt` and, with a hash of their content in
 * their names, a style sheet and scripts below `assets/`. Besides `main` and what all pages have, a script is
 * loaded when its page is opened. The same sources give the same files. They are not compressed: API Gateway
 * does that.
 */
export async function bundlePage(directory: string): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: project,
    entryPoints: { main: "dashboard/main.tsx", styles: "dashboard/styles/main.css" },
    outdir: join(directory, "assets"),
    entryNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    plugins: [commonScript],
    format: "esm",
    platform: "browser",
    // The first that have light-dark().
    target: ["chrome123", "firefox120", "safari17.5"],
    minify: true,
    legalComments: "none",
    banner: { js: `/* Licenses: ${base}/licenses.txt */` },
    logLevel: "error",
    metafile: true,
  });
  const outputOf = (entryPoint: string): { address: string; imports: string[] } => {
    const [path, output] =
      Object.entries(metafile.outputs).find(([, output]) => output.entryPoint === entryPoint) ?? [];
    if (path === undefined || output === undefined) {
      throw new Error(`The page's bundle has no ${entryPoint}`);
    }
    const imports = output.imports.filter(({ kind }) => kind === "import-statement");
    return { address: addressOf(path), imports: imports.map(({ path }) => addressOf(path)) };
  };
  const main = outputOf("dashboard/main.tsx");
  const bundled = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs));
  const html = await readFile(join(project, "dashboard/index.html"), "utf8");
  await mkdir(directory, { recursive: true });
  // Written, not copied: a copy would keep the mode of the source, whatever the umask is.
  await writeFile(join(directory, "icon.svg"), await readFile(join(project, "dashboard/icon.svg")));
  await writeFile(join(directory, "licenses.txt"), noticesOf(bundled));
  await writeFile(
    join(directory, "index.html"),
    html
      .replace("%icon%", `${base}/icon.svg`)
      .replace("%licenses%", `${base}/licenses.txt`)
      .replace("%styles%", outputOf("dashboard/styles/main.css").address)
      .replace("%script%", main.address)
      .replace("%preloads%", main.imports.map(preload).join("\n    ")),
  );
}
