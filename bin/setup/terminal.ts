/** Asks the person at the terminal. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { CommandError } from "../admin/error.ts";

/** Ctrl-C or Ctrl-D at a question. */
export class Terminated extends CommandError {}

export const isTerminal = (): boolean => process.stdin.isTTY === true;

/** Asks, and shows what is typed in `echo`. */
const questionWith = async (echo: NodeJS.WritableStream, question: string): Promise<string> => {
  // From here on the terminal itself shows nothing, so that a hidden answer may come as soon as the question is there.
  const reader = createInterface({ input: process.stdin, output: echo, terminal: true });
  const ended = new AbortController();
  for (const event of ["SIGINT", "close"] as const) reader.once(event, () => ended.abort());
  if (echo !== process.stdout) process.stdout.write(question);
  try {
    return await reader.question(question, { signal: ended.signal });
  } catch {
    throw new Terminated("\nSetup was ended. Run it again to go on.");
  } finally {
    reader.close();
  }
};

export const ask = (question: string): Promise<string> => questionWith(process.stdout, question);

/** Asks without showing what is typed or pasted. */
export const askHidden = async (question: string): Promise<string> => {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const answer = await questionWith(nowhere, question);
  process.stdout.write("\n");
  return answer;
};

/** Standard input to its end. */
export const readInput = (): Promise<string> => text(process.stdin);
