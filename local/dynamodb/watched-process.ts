import { type ChildProcess, spawn } from "node:child_process";

const stopTimeoutMilliseconds = 2_000;

/**
 * Starts a program that ends when this process does, however it ends. A watching shell reads a pipe whose
 * other end only this process holds; it kills the program when the operating system closes the pipe, even
 * after `kill -9`. The program replaces the outer shell, so its process id and exit status are the child's.
 * `variables`: of its environment, besides those of this process.
 */
export const spawnWatched = (
  program: string,
  args: string[],
  variables: Record<string, string> = {},
): ChildProcess => {
  const script = 'exec 3<&0; (cat <&3 >/dev/null; kill -9 $$ 2>/dev/null) & exec "$@" 3<&- </dev/null';
  return spawn("/bin/sh", ["-c", script, "sh", program, ...args], {
    stdio: ["pipe", "ignore", "ignore"],
    env: { ...process.env, ...variables },
    // Ctrl-C reaches the whole process group, but the program has to outlive the functions that use it.
    detached: true,
  });
};

export const isRunning = ({ exitCode, signalCode }: ChildProcess): boolean =>
  exitCode === null && signalCode === null;

/** Ends a watched program, with SIGKILL if it takes too long. */
export const endWatched = async (child: ChildProcess): Promise<void> => {
  if (isRunning(child)) {
    const exited = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMilliseconds);
    await exited;
    clearTimeout(timer);
  }
  child.stdin?.destroy();
};
