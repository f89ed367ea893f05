import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";
import { vi } from "vitest";

/**
 * From now on what waits lets the time pass that it waits for, on a clock that stands still otherwise. Gives
 * the undoing.
 */
export const passWhatIsWaitedFor = (): (() => void) => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const waiting = vi.spyOn(timers, "setTimeout").mockImplementation(async (milliseconds = 0, value) => {
    vi.setSystemTime(Date.now() + milliseconds);
    return value as never;
  });
  syncBuiltinESMExports();
  return () => {
    waiting.mockRestore();
    syncBuiltinESMExports();
    vi.useRealTimers();
  };
};
