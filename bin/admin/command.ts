import type { Stack } from "./connect.ts";

/** Whether a flag must be given and how help writes its value; `switch`: a flag without a value. */
export type FlagKind = `required ${string}` | `optional ${string}` | "switch";

/** The given flags by name. A switch counts as given whatever its value. */
export type Flags = Record<string, string>;

export type Command = {
  /** One sentence for people. */
  about: string;
  flags: Record<string, FlagKind>;
  /** Whether it may change something, with these flags: the operators' log gets an entry before it begins. */
  isAct?: boolean | ((flags: Flags) => boolean);
  /** Flags whose values the operators' log must not keep. */
  privateFlags?: readonly string[];
  /** Gives the result that `--json` prints. Throws `CommandError`. */
  run: (flags: Flags, stack: Stack) => Promise<Record<string, unknown>>;
  /** The result as text for people; default: a table of a list, or a line for each field. */
  print?: (result: never) => string;
  /** Whether this result makes the exit status 1. */
  isWrong?: (result: never) => boolean;
};

/** Commands by name, such as `org create`. */
export type Commands = Record<string, Command>;
