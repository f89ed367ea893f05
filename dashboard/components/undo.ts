import { asFailure } from "../api/client.ts";
import { say } from "./status.tsx";
import { reloadAll } from "./use-data.ts";

type Undoing = {
  /** What people read while it is undone. */
  doing: string;
  /** Undoes it, and resolves to what people then read. */
  undo: () => Promise<string>;
  /** What people read if that fails, before the reason. */
  failed: string;
};

/** Says what was done, and offers to undo it. */
export function sayWithUndo(done: string, { doing, undo, failed }: Undoing): void {
  const act = async (): Promise<void> => {
    // Until it says how it ended.
    say(doing, undefined, 3600);
    try {
      say(await undo());
    } catch (error) {
      say(`${failed}: ${asFailure(error).message}`, offer);
    }
    reloadAll();
  };
  const offer = { name: "Undo", act: () => void act() };
  say(done, offer);
}
