import { signal } from "@preact/signals";

type Message = { text: string; id: number };
const message = signal<Message | undefined>(undefined);

/** Says that something was done: on the screen for a while, and to screen readers. */
export function say(text: string): void {
  const id = (message.value?.id ?? 0) + 1;
  message.value = { text, id };
  setTimeout(() => {
    if (message.value?.id === id) message.value = undefined;
  }, 6_000);
}

export function Status() {
  return (
    <div class="status" role="status">
      {message.value && <p key={message.value.id}>{message.value.text}</p>}
    </div>
  );
}
