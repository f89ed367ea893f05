import { asFailure } from "../api/client.ts";
import { hush, say } from "./status.tsx";
import { reloadAll } from "./use-data.ts";

/** `doing`: what people read while it is undone. `failed`: what they read if that fails, before the reason. */
type Words = { doing: string; failed: string };
/** Undoes it, and resolves to what people then read. */
type Undo = () => Promise<string>;

/** Until something else is said. */
const longSeconds = 3600;

/** Says what was done, and offers to undo it. */
export function sayWithUndo(done: string, undo: Undo, { doing, failed }: Words, seconds?: number): void {
  const act = async (): Promise<void> => {
    say(doing, undefined, longSeconds);
    try {
      say(await undo());
    } catch (error) {
      say(`${failed}: ${asFailure(error).message}`, offer);
    }
    reloadAll();
  };
  const offer = { name: "Undo", act: () => void act() };
  say(done, offer, seconds);
}

/** What was done, in words. Without `undo` there is nothing to undo. */
type Outcome = { done: string; undo?: Undo };

/** How many things were begun, and how many of them are under way. */
let begun = 0;
let underWay = 0;

type Doing = Words & {
  /** What people read while it is done, and if it fails, before the reason. */
  begin: string;
  notDone: string;
};

/**
 * Does something that can be undone from the first moment on: an undo that comes early waits for it.
 * `act` resolves to nothing if people are asked instead. Resolves to false if it failed.
 */
export async function doWithUndo(
  act: (isUndone: () => boolean) => Promise<Outcome | undefined>,
  { begin, notDone, ...words }: Doing,
): Promise<boolean> {
  let isUndone = false;
  begun += 1;
  underWay += 1;
  const turn = begun;
  const failedWith = (error: unknown): string => `${notDone}: ${asFailure(error).message}`;
  const acting = act(() => isUndone);
  const undoEarly = async (): Promise<string> => {
    isUndone = true;
    const outcome = await acting.catch((error: unknown): Outcome => ({ done: failedWith(error) }));
    return outcome?.undo?.() ?? outcome?.done ?? "";
  };
  sayWithUndo(begin, undoEarly, words, longSeconds);
  try {
    const outcome = await acting;
    // Undo belongs to what was begun last.
    if (isUndone || turn !== begun) return true;
    if (outcome === undefined) hush();
    else if (outcome.undo === undefined) say(outcome.done);
    else sayWithUndo(outcome.done, outcome.undo, words);
    return true;
  } catch (error) {
    if (!isUndone) say(failedWith(error));
    return false;
  } finally {
    underWay -= 1;
    // Whoever goes through a list quickly waits for no list between two rows.
    if (underWay === 0 && !isUndone) reloadAll();
  }
}
