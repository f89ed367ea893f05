import { commands } from "../../bin/admin/commands.ts";
import { connect } from "../../bin/admin/connect.ts";
import type { LocalService } from "./run.ts";

export type OwnAdmin = (
  command: string,
  flags: Record<string, string | number | true>,
) => Promise<{ id: number } & Record<string, unknown>>;

/**
 * Runs admin commands on a test file's own service in this process, which is faster than the command line. The product's
 * modules then work on that service: a file can have one such service, and not the shared one beside it.
 */
export const connectAdmin = async ({ port }: LocalService): Promise<OwnAdmin> => {
  const stack = await connect({ port: String(port), stack: undefined });
  return async (command, flags) => {
    const run = commands[command]?.run;
    if (run === undefined) throw new Error(`No admin command ${command}`);
    const strings = Object.fromEntries(Object.entries(flags).map(([flag, value]) => [flag, String(value)]));
    return (await run(strings, stack)) as { id: number } & Record<string, unknown>;
  };
};
