import { confirm } from "@clack/prompts";
import { CommandError } from "./error.ts";

/**
 * Asks the person at the terminal before a deed, on standard error: standard output is the result's. Throws
 * `CommandError` unless the answer is yes. Scripts say `--yes` beforehand.
 */
export const askUnlessYes = async (deed: string, isYes: boolean): Promise<void> => {
  if (isYes) return;
  if (process.stdin.isTTY !== true) throw new CommandError(`This ${deed}: if that is meant, add --yes.`);
  const message = `This ${deed}. Go on?`;
  const answer = await confirm({ message, initialValue: false, output: process.stderr, withGuide: false });
  if (answer !== true) throw new CommandError("Nothing was changed.");
};
