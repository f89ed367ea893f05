import type { Write } from "../../shared/aws/table/condition.ts";
import type { Stack } from "./connect.ts";

/** Whether a flag must be given and how help writes its value; `switch`: a flag without a value. */
export type FlagKind = `required ${string}` | `optional ${string}` | "switch";

/** The given flags by name. A switch counts as given whatever its value. */
export type Flags = Record<string, string>;

export type Command = {
  /** One sentence for people. */
  about: string;
  flags: Record<string, FlagKind>;
  /** Whether it changes something, so that the operators' log gets an entry in its first transaction. */
  isAct?: boolean;
  /** Whether it changes something by many writes with these flags. The operators' log then gets the entry before. */
  isLongAct?: (flags: Flags) => boolean;
  /** Flags whose values the operators' log must not keep. */
  privateFlags?: readonly string[];
  /**
   * Gives the result that `--json` prints. Throws `CommandError`. `also`: what an act's first transaction writes besides,
   * the entry of the operators' log; empty for other commands.
   */
  run: (flags: Flags, stack: Stack, also: readonly Write[]) => Promise<Record<string, unknown>>;
  /** The result as text for people; default: a table of a list, or a line for each field. */
  print?: (result: never) => string;
  /** Whether this result makes the exit status 1. */
  isWrong?: (result: never) => boolean;
};

/** Commands by name, such as `org create`. */
export type Commands = Record<string, Command>;
