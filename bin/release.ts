/**
 * `npm run release -- [-c name=value]...` writes an archive into `release/`. `cdk deploy --app` deploys it to
 * any account and region without building. It holds the synthesized stack with all options, the functions'
 * code with licenses, and a bill of materials. Beside it is its SHA-256 checksum, as `sha256sum --check`
 * reads it.
 */
import { type ExecFileSyncOptions, execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { CommandError, wrongUsage } from "./admin/error.ts";
import { project, readContext } from "./setup/context.ts";

const example = '"npm run release -- -c senderEmail=alerts@acme.com" is an example.';

/** The options that are given. Throws `CommandError`. */
const readOptions = (args: string[]): [name: string, value: string][] => {
  try {
    const { values } = parseArgs({
      args,
      options: { context: { type: "string", short: "c", multiple: true, default: [] } },
    });
    return values.context.map((option) => {
      const at = option.indexOf("=");
      if (at < 1) throw new Error(`"${option}" is not name=value`);
      return [option.slice(0, at), option.slice(at + 1)];
    });
  } catch (error) {
    throw new CommandError(`${wrongUsage(error)}: ${example}`);
  }
};

/** Runs a program, which says on standard error why it fails. */
const run = (program: string, args: string[], options: ExecFileSyncOptions = {}): Buffer => {
  try {
    return execFileSync(program, args, {
      cwd: project,
      maxBuffer: 2 ** 26,
      stdio: ["ignore", "pipe", "inherit"],
      ...options,
    }) as Buffer;
  } catch (error) {
    const { status, message } = error as Error & { status?: number };
    const why = typeof status === "number" ? "for the reason above" : message;
    throw new CommandError(`There is no release: "${basename(program)}" failed, ${why}.`);
  }
};

const release = (given: [name: string, value: string][]): void => {
  const { version } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  const name = `breach-monitor-${version}`;
  // Beside the former release, which stays if this one fails.
  const directory = join(project, "cdk.out", "release");
  const content = join(directory, name);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(content, { recursive: true });

  const assembly = join(content, "assembly");
  // Started without the CDK command line, which would tell the app of the account and region of whoever runs this.
  const { CDK_DEFAULT_ACCOUNT: _account, CDK_DEFAULT_REGION: _region, ...environment } = process.env;
  run(process.execPath, [join(project, "bin", "breach-monitor.ts")], {
    env: {
      ...environment,
      CDK_OUTDIR: assembly,
      CDK_CONTEXT_JSON: JSON.stringify({ ...readContext(), ...Object.fromEntries(given) }),
    },
  });
  for (const file of readdirSync(assembly).filter((each) => each.endsWith(".metadata.json"))) {
    // It says in which line what was made. Where the sources are is nobody's business.
    const text = readFileSync(join(assembly, file), "utf8");
    writeFileSync(join(assembly, file), text.replaceAll(`${project}/`, ""));
  }
  // What is deployed of these are copies, named after their content.
  rmSync(join(assembly, "bundles"), { recursive: true });

  const bill = run("npm", ["run", "--silent", "sbom"]);
  writeFileSync(join(content, "sbom.cdx.json"), bill);

  const archive = `${name}.tgz`;
  run("tar", ["-czf", archive, name], { cwd: directory });
  const hash = createHash("sha256")
    .update(readFileSync(join(directory, archive)))
    .digest("hex");
  writeFileSync(join(directory, `${archive}.sha256`), `${hash}  ${archive}\n`);
  rmSync(join(project, "release"), { recursive: true, force: true });
  renameSync(directory, join(project, "release"));
  console.log(`release/${archive}\nSHA-256 ${hash}`);
};

try {
  release(readOptions(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof CommandError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
