/** Asks the person at the terminal. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { CommandError } from "../admin/error.ts";

/** Ctrl-C or Ctrl-D at a question. */
export class Terminated extends CommandError {}

export const isTerminal = (): boolean => process.stdin.isTTY === true;

/** Asks with `output` for the echo of what is typed. */
const questionWith = async (output: NodeJS.WritableStream, question: string): Promise<string> => {
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  const ended = new AbortController();
  for (const event of ["SIGINT", "close"] as const) reader.once(event, () => ended.abort());
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
  process.stdout.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const answer = await questionWith(nowhere, "");
  process.stdout.write("\n");
  return answer;
};

/** Standard input to its end. */
export const readInput = (): Promise<string> => text(process.stdin);
