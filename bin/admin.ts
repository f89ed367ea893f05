/**
 * The admin command line: `npm run admin -- <noun> <verb> [--flag value]... [--json]`. It works on the
 * running local service (`--port`; by default 3000, else the only one) or on a deployed stack
 * (`--stack NAME`). With `--json` it prints one JSON object. Exit status 1: an error, told in one sentence
 * on standard error, or a `check` that leaves differences.
 */
import { parseArgs } from "node:util";
import { Refusal } from "../shared/contract/errors.ts";
import { commands } from "./admin/commands.ts";
import { connect } from "./admin/connect.ts";
import { CommandError, wrongUsage } from "./admin/error.ts";
import { help, written } from "./admin/help.ts";
import { print } from "./admin/print.ts";
import { endProgress } from "./admin/progress.ts";
import { runCommand } from "./admin/run-command.ts";

const run = async (args: string[]): Promise<void> => {
  const firstFlag = args.findIndex((arg) => arg.startsWith("-"));
  const words = firstFlag < 0 ? args.length : firstFlag;
  const name = args.slice(0, words).join(" ");
  if (args.length === 0 || args[0] === "help" || args.includes("--help") || args.includes("-h")) {
    const about = name.replace(/^help ?/, "");
    const text = help(about);
    if (text === undefined) throw noCommand(about);
    process.stdout.write(text);
    return;
  }
  if (name === "") throw new CommandError("Name the command before its flags.");
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw noCommand(name);
  const values = parseFlags(name, args.slice(words), command.flags);
  for (const [flag, kind] of Object.entries(command.flags)) {
    if (kind.startsWith("required") && values[flag] === undefined) {
      throw new CommandError(`"${name}" needs ${written(flag, kind)}.`);
    }
  }
  const stack = await connect({
    port: values.port as string | undefined,
    stack: values.stack as string | undefined,
  });
  const result = await runCommand(name, command, values as Record<string, string>, stack).finally(
    endProgress,
  );
  const show = (command.print ?? print) as typeof print;
  process.stdout.write(values.json === true ? `${JSON.stringify(result)}\n` : show(result));
  if ((command.isWrong as ((given: typeof result) => boolean) | undefined)?.(result)) process.exitCode = 1;
};

const noCommand = (name: string): CommandError =>
  new CommandError(`There is no command "${name}": "npm run admin -- help" lists them.`);

/** Throws `CommandError` for unknown flags, missing values, and flags that are given twice. */
const parseFlags = (name: string, args: string[], flags: Record<string, string>) => {
  const { values, tokens } = parseTokens(name, args, flags);
  const given = tokens.flatMap((token) => (token.kind === "option" ? [token.name] : []));
  const repeated = given.find((flag, index) => given.indexOf(flag) !== index);
  if (repeated !== undefined) throw new CommandError(`Give --${repeated} once.`);
  return values as Record<string, string | boolean | undefined>;
};

const parseTokens = (name: string, args: string[], flags: Record<string, string>) => {
  const options = Object.fromEntries(
    Object.entries(flags).map(([flag, kind]) => [
      flag,
      { type: kind === "switch" ? ("boolean" as const) : ("string" as const) },
    ]),
  );
  try {
    return parseArgs({
      args,
      options: {
        ...options,
        json: { type: "boolean" },
        port: { type: "string" },
        stack: { type: "string" },
      },
      strict: true,
      tokens: true,
    });
  } catch (error) {
    throw new CommandError(`${wrongUsage(error)}: "npm run admin -- help ${name}" shows its flags.`);
  }
};

const sentenceOf = (error: unknown): string => {
  if (error instanceof CommandError) return error.message;
  if (error instanceof Refusal) return `${error.message}.`;
  const { name, message } = error as Error;
  const next =
    name === "AccessDeniedException"
      ? "docs/deploy.md lists the permissions that it needs"
      : "docs/entrypoints.md says how to go on after a command that ended half-way";
  return `The command failed: ${message.replace(/\.$/, "")}. ${next}.`;
};

// Whoever reads the output may end first, as "head" does. The command goes on.
process.stdout.on("error", () => undefined);

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${sentenceOf(error)}\n`);
  process.exitCode = 1;
}
