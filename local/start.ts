/** The entry point of `npm start`: synthesizes the stack and runs that template on this machine. */
import { join } from "node:path";
import { asksForHelp, readCommandLine, usage } from "./command-line.ts";
import { openLifetime } from "./lifetime.ts";
import { watchNpm } from "./npm-parent.ts";
import { run } from "./run.ts";

const projectDirectory = join(import.meta.dirname, "..");

const main = async (args: string[]): Promise<void> => {
  const lifetime = openLifetime();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    // The second signal does not wait for anything.
    process.on(signal, () => (lifetime.signal.aborted ? process.exit(1) : void lifetime.stop(0)));
  }
  watchNpm(() => void lifetime.stop(0));
  try {
    const settings = readCommandLine(args, {
      // npm runs scripts in the project's directory; INIT_CWD is where the person is.
      workingDirectory: process.env.INIT_CWD ?? process.cwd(),
      defaultDirectory: join(projectDirectory, ".local"),
    });
    await run(settings, lifetime);
  } catch (error) {
    if (lifetime.signal.aborted) return;
    console.error((error as Error).message);
    await lifetime.stop(1);
  }
};

// Only the person who started a run may read what it writes, even in a directory that others may read.
process.umask(0o077);
// Whoever reads the output may end first. The service goes on.
process.stdout.on("error", () => undefined);
const args = process.argv.slice(2);
if (asksForHelp(args)) process.stdout.write(usage);
else await main(args);
