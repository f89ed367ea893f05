import { signal } from "@preact/signals";
import { moves } from "../router.ts";

/** `move`: after which move to another page it was said. */
type Message = { text: string; id: number; move: number };
const message = signal<Message | undefined>(undefined);

/** Says that something was done: on the screen for a while, until people go to another page, and to screen readers. */
export function say(text: string): void {
  const id = (message.value?.id ?? 0) + 1;
  message.value = { text, id, move: moves.peek() };
  setTimeout(() => {
    if (message.value?.id === id) message.value = undefined;
  }, 6_000);
}

export function Status() {
  return (
    <div class="status" role="status">
      {message.value?.move === moves.value && <p key={message.value.id}>{message.value.text}</p>}
    </div>
  );
}
