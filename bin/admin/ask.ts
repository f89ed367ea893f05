import { createInterface } from "node:readline/promises";
import { CommandError } from "./error.ts";

/**
 * Asks the person at the terminal before a deed, on standard error: standard output is the result's. Throws
 * `CommandError` unless the answer is yes. Scripts say `--yes` beforehand.
 */
export const askUnlessYes = async (deed: string, isYes: boolean): Promise<void> => {
  if (isYes) return;
  if (process.stdin.isTTY !== true) throw new CommandError(`This ${deed}: if that is meant, add --yes.`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await terminal.question(`This ${deed}. Go on? (y/N) `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError("Nothing was changed.");
  } finally {
    terminal.close();
  }
};
