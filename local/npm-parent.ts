import { readFileSync } from "node:fs";

const intervalMilliseconds = 500;

/**
 * When npm runs us, calls back as soon as npm has ended: a npm that is killed passes nothing on to what it started. npm starts
 * us through a shell, which may stay between us and outlive npm; then the shell's parent is the one to watch.
 */
export function watchNpm(onEnd: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) {
    return;
  }
  const parent = process.ppid;
  const grandparent = isShell(parent) ? readParent(parent) : undefined;
  const timer = setInterval(() => {
    if (process.ppid !== parent || (grandparent !== undefined && readParent(parent) !== grandparent)) {
      clearInterval(timer);
      onEnd();
    }
  }, intervalMilliseconds);
  timer.unref();
}

/** Linux only; elsewhere the usual shells replace themselves with the one command they run. */
function readParent(processId: number): number | undefined {
  const [, afterName = ""] = readProcess(processId, "stat").split(/\) (?!.*\) )/);
  const parent = Number(afterName.split(" ")[1]);
  return Number.isInteger(parent) && parent > 0 ? parent : undefined;
}

function isShell(processId: number): boolean {
  return /^(ba|da|a)?sh$/.test(readProcess(processId, "comm").trim());
}

function readProcess(processId: number, what: string): string {
  try {
    return readFileSync(`/proc/${processId}/${what}`, "utf8");
  } catch {
    return "";
  }
}
