import { useEffect, useState } from "preact/hooks";
import { asFailure, isAbort } from "../api/client.ts";
import type { Failure } from "../api/failure.ts";

export type Data<Value> = {
  /** The last that was loaded, also while the next loads. */
  value: Value | undefined;
  failure: Failure | undefined;
  isLoading: boolean;
  reload: () => void;
};

/** Loads when the component appears and whenever `key` changes; what is not wanted any more is aborted. */
export function useData<Value>(key: string, load: (signal: AbortSignal) => Promise<Value>): Data<Value> {
  const [{ loaded, ...state }, setState] = useState<Omit<Data<Value>, "reload"> & { loaded?: string }>({
    value: undefined,
    failure: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState((before) => (before.isLoading ? before : { ...before, isLoading: true }));
    load(abort.signal).then(
      (value) =>
        abort.signal.aborted || setState({ loaded: key, value, failure: undefined, isLoading: false }),
      (error: unknown) => {
        if (abort.signal.aborted || isAbort(error)) return;
        setState(({ value }) => ({ loaded: key, value, failure: asFailure(error), isLoading: false }));
      },
    );
    return () => abort.abort();
  }, [key, round]);
  // With another key it loads from this rendering on: the effect runs after it.
  return {
    ...state,
    isLoading: state.isLoading || loaded !== key,
    reload: () => setRound((before) => before + 1),
  };
}

/** Reloads every few seconds while `isOn` and the page is visible. */
export function useRepeat(isOn: boolean, seconds: number, act: () => void): void {
  useEffect(() => {
    if (!isOn) return;
    const timer = setInterval(() => document.visibilityState === "visible" && act(), seconds * 1000);
    return () => clearInterval(timer);
  }, [isOn, seconds]);
}
