import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { asFailure, isAbort } from "../api/client.ts";
import type { Failure } from "../api/failure.ts";

export type Data<Value> = {
  /** The last that was loaded, also while the next loads. */
  value: Value | undefined;
  failure: Failure | undefined;
  isLoading: boolean;
  reload: () => void;
};

const changes = signal(0);

/** Loads everything again that is shown: it was changed from another page. */
export const reloadAll = (): void => {
  changes.value += 1;
};

/**
 * Loads when the component appears and whenever `key` changes; aborts a load that nobody waits for any more.
 */
export function useData<Value>(key: string, load: (signal: AbortSignal) => Promise<Value>): Data<Value> {
  const [{ loaded, ...state }, setState] = useState<
    Pick<Data<Value>, "value" | "failure"> & { loaded?: string }
  >({ value: undefined, failure: undefined });
  const [round, setRound] = useState(0);
  const wanted = `${changes.value} ${round} ${key}`;
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal).then(
      (value) => abort.signal.aborted || setState({ loaded: wanted, value, failure: undefined }),
      (error: unknown) => {
        if (abort.signal.aborted || isAbort(error)) return;
        setState(({ value }) => ({ loaded: wanted, value, failure: asFailure(error) }));
      },
    );
    return () => abort.abort();
  }, [wanted]);
  // Loading is derived: a state of its own would draw the page once more.
  return { ...state, isLoading: loaded !== wanted, reload: () => setRound((before) => before + 1) };
}

const longestPauseSeconds = 60;

/**
 * Reloads while `isOn` and the page is visible, some seconds after each answer: a slow one would never come
 * otherwise. The pause grows while answers are equal, because a delivery can wait for hours.
 */
export function useRepeat(isOn: boolean, seconds: number, { value, isLoading, reload }: Data<unknown>): void {
  const isDue = isOn && !isLoading;
  const last = useRef({ answer: "", pause: seconds });
  useEffect(() => {
    if (!isDue) return;
    const { answer, pause } = last.current;
    const latest = JSON.stringify(value);
    const next = latest === answer ? Math.min(1.5 * pause, longestPauseSeconds) : seconds;
    last.current = { answer: latest, pause: next };
    const timer = setInterval(() => document.visibilityState === "visible" && reload(), next * 1000);
    return () => clearInterval(timer);
  }, [isDue]);
}
