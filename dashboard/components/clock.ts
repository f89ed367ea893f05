import { signal } from "@preact/signals";
import { serviceTime } from "../api/client.ts";

const ticks = signal(0);
setInterval(() => {
  ticks.value += 1;
}, 20_000);

/**
 * Unix milliseconds by the service's clock. What shows it is drawn again a few times a minute, so that "3
 * minutes ago" stays true.
 */
export function now(): number {
  void ticks.value;
  return serviceTime().getTime();
}
