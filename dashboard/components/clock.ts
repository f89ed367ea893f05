import { signal } from "@preact/signals";

/** Unix milliseconds, a few times a minute: what is shown as "3 minutes ago" stays true. */
export const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 20_000);
