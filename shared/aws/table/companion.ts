/** A row that an act's first transaction writes along, so that there is the row if and only if the act was done. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Write } from "./condition.ts";

type Companion = { write: Write; isWritten: boolean };

const current = new AsyncLocalStorage<Companion>();

/** Runs an act whose first transaction takes `write` along. An act without transactions leaves no row. */
export const withCompanion = <T>(write: Write, act: () => Promise<T>): Promise<T> =>
  current.run({ write, isWritten: false }, act);

/** The write that the next transaction has to take along, if there is one. `written` says that it did. */
export const companion = (): { writes: Write[]; written: () => void } => {
  const here = current.getStore();
  if (here === undefined || here.isWritten) return { writes: [], written: () => {} };
  return {
    writes: [here.write],
    written: () => {
      here.isWritten = true;
    },
  };
};
