import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";

const projectDirectory = join(import.meta.dirname, "..");

/**
 * Synthesizes the stack into a directory, as `cdk synth` does, in a process of its own. `context` is what `-c name=value`
 * would say.
 * @throws Error with what the app printed when it fails.
 */
export async function synthesize(
  directory: string,
  context: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  // The account and region of someone's AWS profile must not find their way into a local template.
  const { CDK_DEFAULT_ACCOUNT: _account, CDK_DEFAULT_REGION: _region, ...environment } = process.env;
  const app = spawn(process.execPath, [join(projectDirectory, "bin", "breach-monitor.ts")], {
    cwd: projectDirectory,
    env: { ...environment, CDK_OUTDIR: directory, CDK_CONTEXT_JSON: JSON.stringify(context) },
    stdio: ["ignore", "pipe", "pipe"],
    signal,
    killSignal: "SIGKILL",
  });
  const printed: Buffer[] = [];
  app.stdout.on("data", (chunk: Buffer) => printed.push(chunk));
  app.stderr.on("data", (chunk: Buffer) => printed.push(chunk));
  const status = await new Promise((resolve, reject) => {
    app.once("error", reject);
    app.once("close", resolve);
  });
  if (status !== 0) {
    throw new Error(`The stack could not be synthesized:\n${Buffer.concat(printed).toString().trimEnd()}`);
  }
}
