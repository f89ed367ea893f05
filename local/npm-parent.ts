import { readFileSync } from "node:fs";

const intervalMilliseconds = 500;

/**
 * Calls back when the npm that runs this process has ended: a killed npm does not end what it started. npm
 * starts scripts through a shell, which may outlive npm. Then the shell's parent is the process to watch.
 */
export const watchNpm = (onEnd: () => void): void => {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const grandparent = isShell(parent) ? readParent(parent) : undefined;
  const timer = setInterval(() => {
    if (process.ppid !== parent || (grandparent !== undefined && readParent(parent) !== grandparent)) {
      clearInterval(timer);
      onEnd();
    }
  }, intervalMilliseconds);
  timer.unref();
};

/** On Linux only. Elsewhere the usual shells replace themselves with the one command that they run. */
const readParent = (processId: number): number | undefined => {
  const [, afterName = ""] = readProcess(processId, "stat").split(/\) (?!.*\) )/);
  const parent = Number(afterName.split(" ")[1]);
  return Number.isInteger(parent) && parent > 0 ? parent : undefined;
};

const isShell = (processId: number): boolean => /^(ba|da|a)?sh$/.test(readProcess(processId, "comm").trim());

const readProcess = (processId: number, what: string): string => {
  try {
    return readFileSync(`/proc/${processId}/${what}`, "utf8");
  } catch {
    return "";
  }
};
