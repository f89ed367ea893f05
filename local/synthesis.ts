import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";

const projectDirectory = join(import.meta.dirname, "..");

/**
 * Synthesizes the stack into a directory, as `cdk synth` does, in a process of its own. `context` has the
 * values of `-c name=value`. Rejects with what the app printed when it fails.
 */
export const synthesize = async (
  directory: string,
  context: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> => {
  rmSync(directory, { recursive: true, force: true });
  // The account and region of a person's AWS profile must not get into a local template.
  const { CDK_DEFAULT_ACCOUNT: _account, CDK_DEFAULT_REGION: _region, ...environment } = process.env;
  // CDK_OUTDIR and CDK_CONTEXT_JSON are the variables with which the CDK's command line starts an app.
  // CDK_VALIDATION leaves out its check against CloudFormation's rules, which takes most of the time;
  // `npm run synth` and deployments make it.
  const app = spawn(process.execPath, [join(projectDirectory, "bin", "breach-monitor.ts")], {
    cwd: projectDirectory,
    env: {
      ...environment,
      CDK_OUTDIR: directory,
      CDK_CONTEXT_JSON: JSON.stringify(context),
      CDK_VALIDATION: "false",
    },
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
};
