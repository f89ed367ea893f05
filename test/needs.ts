/** What programs of tests need beside Node. Each ends the process with one sentence where it is missing. */
import { execFileSync } from "node:child_process";
import { findJava } from "../local/dynamodb/dynamodb-local.ts";

const need = (isThere: boolean, what: string): void => {
  if (isThere) return;
  console.error(`This needs ${what}, which is not there.`);
  process.exit(1);
};

const runs = (program: string, ...args: string[]): boolean => {
  try {
    execFileSync(program, args, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
};

export const needPython = (): void =>
  need(runs("python3", "-c", "import ensurepip, venv"), "Python 3 with venv and pip");

/** Gives the path of the program. */
export const needJava = async (): Promise<string> => {
  const java = await findJava();
  need(java !== undefined, "Java of 17 or newer");
  return java ?? "";
};
