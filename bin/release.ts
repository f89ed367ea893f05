/**
 * `npm run release -- [-c name=value]...`: writes into `release/` an archive that `cdk deploy --app` deploys to any account and region
 * without building: the synthesized stack with the options of cdk.json and `-c`, the code of its functions with the licenses of what is
 * in it, and a bill of materials. Beside it is the archive's SHA-256 checksum, as `sha256sum --check` reads it.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { project, readContext } from "./setup/context.ts";

const { values } = parseArgs({
  options: { context: { type: "string", short: "c", multiple: true, default: [] } },
});
const given = values.context.map((option) => {
  const [name = "", ...value] = option.split("=");
  return [name, value.join("=")];
});

const { version } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
const name = `breach-monitor-${version}`;
const directory = join(project, "release");
const content = join(directory, name);
rmSync(directory, { recursive: true, force: true });
mkdirSync(content, { recursive: true });

const assembly = join(content, "assembly");
// Started without the CDK command line, which would tell the app of the account and region of whoever runs this.
const { CDK_DEFAULT_ACCOUNT: _account, CDK_DEFAULT_REGION: _region, ...environment } = process.env;
execFileSync(process.execPath, [join(project, "bin", "breach-monitor.ts")], {
  cwd: project,
  env: {
    ...environment,
    CDK_OUTDIR: assembly,
    CDK_CONTEXT_JSON: JSON.stringify({ ...readContext(), ...Object.fromEntries(given) }),
  },
  stdio: "inherit",
});
for (const file of readdirSync(assembly).filter((each) => each.endsWith(".metadata.json"))) {
  // It says in which line what was made. Where the sources are is nobody's business.
  const text = readFileSync(join(assembly, file), "utf8");
  writeFileSync(join(assembly, file), text.replaceAll(`${project}/`, ""));
}
// What is deployed of these are copies, named after their content.
rmSync(join(assembly, "bundles"), { recursive: true });

const bill = execFileSync("npm", ["run", "--silent", "sbom"], { cwd: project, maxBuffer: 2 ** 26 });
writeFileSync(join(content, "sbom.cdx.json"), bill);

const archive = `${name}.tgz`;
execFileSync("tar", ["-czf", archive, name], { cwd: directory });
const hash = createHash("sha256")
  .update(readFileSync(join(directory, archive)))
  .digest("hex");
writeFileSync(join(directory, `${archive}.sha256`), `${hash}  ${archive}\n`);
console.log(`release/${archive}\nSHA-256 ${hash}`);
