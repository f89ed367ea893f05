/** Bundles the dashboard's page. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { noticesOf } from "./notices.ts";

const project = join(import.meta.dirname, "..");
const base = "/api/app";

/**
 * Writes the page's files: `index.html`, `icon.svg`, `licenses.txt` and, with a hash of their content in their names, a script and a style
 * sheet below `assets/`. The same sources give the same files. They are not compressed: API Gateway does that.
 */
export async function bundlePage(directory: string): Promise<void> {
  const { metafile } = await build({
    absWorkingDir: project,
    entryPoints: { main: "dashboard/main.tsx", styles: "dashboard/styles/main.css" },
    outdir: join(directory, "assets"),
    entryNames: "[name]-[hash]",
    bundle: true,
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
  const addressOf = (entryPoint: string): string => {
    const [path] =
      Object.entries(metafile.outputs).find(([, output]) => output.entryPoint === entryPoint) ?? [];
    if (path === undefined) throw new Error(`The page's bundle has no ${entryPoint}`);
    return `${base}/assets/${path.split("/").at(-1)}`;
  };
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
      .replace("%styles%", addressOf("dashboard/styles/main.css"))
      .replace("%script%", addressOf("dashboard/main.tsx")),
  );
}
