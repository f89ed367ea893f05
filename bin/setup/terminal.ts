/** Asks the person at the terminal. */
import { text as textOf } from "node:stream/consumers";
import { confirm, isCancel, password, text, updateSettings } from "@clack/prompts";
import { CommandError } from "../admin/error.ts";

/** Ctrl-C, Ctrl-D or Escape at a question. */
export class Terminated extends CommandError {}

updateSettings({ withGuide: false, aliases: { "\x04": "cancel" } });

export const isTerminal = (): boolean => process.stdin.isTTY === true;

/** Throws `CommandError` for an answer that is refused: its message is shown, and the question is asked again. */
type Read = (answer: string) => unknown;

export const ask = (question: string, read: Read): Promise<string> =>
  answered(text({ message: question, defaultValue: "", validate: refusalBy(read) }));

/** Asks without showing the typed or pasted text, nor its length. */
export const askHidden = (question: string, read: Read): Promise<string> =>
  answered(password({ message: question, mask: "", clearOnError: true, validate: refusalBy(read) }));

export const askWhether = (question: string): Promise<boolean> =>
  answered(confirm({ message: question, initialValue: false }));

const answered = async <T>(question: Promise<T>): Promise<Exclude<T, symbol>> => {
  const answer = await question;
  if (isCancel(answer)) throw new Terminated("Setup was ended. Run it again to go on.");
  return answer as Exclude<T, symbol>;
};

const refusalBy =
  (read: Read) =>
  (answer = ""): string | undefined => {
    try {
      read(answer);
      return undefined;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return error.message.replace(/^--[\w-]+: /, "That ");
    }
  };

/** Standard input to its end. */
export const readInput = (): Promise<string> => textOf(process.stdin);
