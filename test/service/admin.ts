import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import { commands } from "../../bin/admin/commands.ts";
import { connect, type Stack } from "../../bin/admin/connect.ts";
import { runCommand } from "../../bin/admin/run-command.ts";
import { waitLongForReplies } from "../environment.ts";

type Result = Record<string, unknown> & { id: number };

let connected: { port: string; stack: Promise<Stack> } | undefined;

/**
 * Runs an admin command: `admin("org create", { name: "Acme" })`. For a test file's first service it runs in
 * this process, which is faster and connects the product's modules. For all later ones it starts the command
 * line.
 */
export const admin = async (
  command: string,
  flags: Record<string, string | number | true>,
  apiUrl: string = inject("apiUrl"),
): Promise<Result> => {
  const { port } = new URL(apiUrl);
  waitLongForReplies();
  connected ??= { port, stack: connect({ port, stack: undefined }) };
  if (connected.port !== port) return commandLine(command, flags, apiUrl);
  const strings = Object.fromEntries(Object.entries(flags).map(([flag, value]) => [flag, String(value)]));
  const known = commands[command];
  if (known === undefined) throw new Error(`No admin command ${command}`);
  return (await runCommand(command, known, strings, await connected.stack)) as Result;
};

/** Runs an admin command by the command line, also for a service that was started again on its port. */
export const commandLine = async (
  command: string,
  flags: Record<string, string | number | true>,
  apiUrl: string,
): Promise<Result> => {
  const args = Object.entries(flags).flatMap(([flag, value]) =>
    value === true ? [`--${flag}`] : [`--${flag}`, String(value)],
  );
  const entry = join(import.meta.dirname, "../../bin/admin.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [
    entry,
    ...command.split(" "),
    ...args,
    "--json",
    "--port",
    new URL(apiUrl).port,
  ]);
  return JSON.parse(stdout) as Result;
};
