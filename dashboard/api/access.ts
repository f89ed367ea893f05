/** Whether the browser is signed in, as far as the answers tell. */
import { signal } from "@preact/signals";

/**
 * unknown: nothing was answered yet. ended: it was signed in, and what people see and typed is still there.
 */
type Access = "unknown" | "signed in" | "signed out" | "ended";

export const access = signal<Access>("unknown");

/** Why the subscription has lapsed; undefined while it has not. */
export const lapsed = signal<string | undefined>(undefined);

/** Until when requests wait because there were too many, in Unix milliseconds. */
export const waitsUntil = signal<number | undefined>(undefined);

export function showSignedOut(): void {
  if (access.value === "signed in") access.value = "ended";
  if (access.value === "unknown") access.value = "signed out";
}

/** Resolves when the browser is signed in again; rejects when the signal aborts. */
export function signedIn(abort: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = access.subscribe((now) => {
      if (now !== "signed in") return;
      queueMicrotask(() => stop());
      resolve();
    });
    abort?.addEventListener("abort", () => {
      stop();
      reject(abort.reason);
    });
  });
}
