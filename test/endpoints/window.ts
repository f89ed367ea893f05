import { setTimeout } from "node:timers/promises";

/** Waits for the next window when the current one, aligned to the UTC minute or hour, is about to end: a burst must fit. */
export const roomInWindow = async (windowSeconds: 60 | 3600, neededSeconds = 15): Promise<void> => {
  const left = windowSeconds - ((Date.now() / 1000) % windowSeconds);
  if (left < neededSeconds) await setTimeout(left * 1000 + 100);
};
