import { signal } from "@preact/signals";
import { moves } from "../router.ts";
import { Button } from "./button.tsx";

/** Something to do about a message, such as undoing what it says. */
type Offer = { name: string; act: () => void };

/** `move`: after which move to another page it was said. */
type Message = { text: string; id: number; move: number; offer: Offer | undefined };
const message = signal<Message | undefined>(undefined);
let timer = 0;

/**
 * Says that something was done: on the screen for a while, until people go to another page, and to screen
 * readers. What it offers stays for twenty seconds, wherever they go.
 */
export function say(text: string, offer?: Offer, seconds = offer === undefined ? 6 : 20): void {
  const id = (message.value?.id ?? 0) + 1;
  message.value = { text, id, move: moves.peek(), offer };
  // The time of an earlier message does not end this one.
  clearTimeout(timer);
  timer = window.setTimeout(hush, seconds * 1000);
}

export const hush = (): void => {
  message.value = undefined;
};

export function Status() {
  const { offer, move } = message.value ?? {};
  const said = offer || move === moves.value ? message.value : undefined;
  const take = (): void => {
    message.value = undefined;
    offer?.act();
  };
  return (
    <div class="status">
      <p role="status">{said && <span key={said.id}>{said.text}</span>}</p>
      {offer && (
        <Button aria-keyshortcuts="z" onClick={take}>
          {offer.name}
        </Button>
      )}
    </div>
  );
}
