/**
 * Generates clients from openapi.json with the generators of docs/clients.md, and runs a program with each
 * against a local service. Needs npm, and Python 3 with venv and pip; both fetch packages into a folder of
 * this run.
 */
import { strict as assert } from "node:assert";
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { startService } from "../../local/harness/service.ts";
import { needPython } from "../needs.ts";

needPython();

const project = join(import.meta.dirname, "../..");
const document = join(project, "openapi.json");
const scratch = await mkdtemp(join(tmpdir(), "clients-"));

const run = async (
  program: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> => {
  const { stdout } = await promisify(execFile)(program, args, {
    cwd: scratch,
    env: { ...process.env, ...env },
  });
  return stdout;
};

/** Prepares a client, and returns how its program is run. */
type Prepare = () => Promise<[program: string, ...args: string[]]>;

const clients: Record<string, Prepare> = {
  typescript: async () => {
    await writeFile(join(scratch, "package.json"), JSON.stringify({ private: true, type: "module" }));
    await run("npm", [
      ...["install", "--no-audit", "--no-fund", "--loglevel=error"],
      ...["openapi-typescript@7.13.0", "openapi-fetch@0.17.0", "typescript@5.9.3", "@types/node@24.19.2"],
    ]);
    await run("npx", ["openapi-typescript", document, "--default-non-nullable", "false", "-o", "api.d.ts"]);
    await copyFile(join(project, "docs/clients/watch.mts"), join(scratch, "watch.mts"));
    await run("npx", [
      ...["tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2024"],
      "watch.mts",
    ]);
    return [process.execPath, "watch.mts"];
  },
  python: async () => {
    await run("python3", ["-m", "venv", "python"]);
    const bin = join(scratch, "python/bin");
    const pip = (...packages: string[]) =>
      run(join(bin, "pip"), ["install", "--quiet", "--disable-pip-version-check", ...packages]);
    await pip("openapi-python-client==0.29.1");
    await run(join(bin, "openapi-python-client"), [
      "generate",
      "--path",
      document,
      "--output-path",
      "client",
    ]);
    await pip("./client");
    await copyFile(join(project, "docs/clients/watch.py"), join(scratch, "watch.py"));
    return [join(bin, "python"), "watch.py"];
  },
};

const service = await startService(["--memory"]);
try {
  const admin = async (...args: string[]): Promise<Record<string, unknown>> => {
    const port = new URL(service.apiUrl).port;
    const entry = join(project, "bin/admin.ts");
    return JSON.parse(await run(process.execPath, [entry, ...args, "--json", "--port", port]));
  };
  for (const [language, prepare] of Object.entries(clients)) {
    const program = await prepare();
    const { id } = await admin("org", "create", "--name", language, "--scan-every", "never");
    const domain = await admin(
      ...["domain", "add", "--org", `${id}`, "--name", "demo.example", "--verified"],
    );
    const { key } = await admin("key", "create", "--org", `${id}`, "--label", language);
    const [path, ...args] = program;
    const printed = await run(path, args, {
      API_URL: service.apiUrl,
      API_KEY: `${key}`,
      DOMAIN_ID: `${domain.id}`,
      EMAIL: "ada@demo.example",
    });
    const [refused, ended, ...found] = printed.trim().split("\n");
    assert.equal(refused, "409 This email is already monitored");
    assert.equal(ended, "completed 3");
    assert.equal(found.length, 3);
    for (const line of found) assert.match(line, /^ada@demo\.example \w+$/);
    console.log(`ok: ${language}\n${printed}`);
  }
} finally {
  await service.stop();
  await rm(scratch, { recursive: true, force: true });
}
