import { useState } from "preact/hooks";
import { asFailure, isAbort } from "../api/client.ts";
import type { Failure } from "../api/failure.ts";

export type Action = {
  /** Does it, unless it is being done; resolves to whether it succeeded. */
  run: (act: () => Promise<unknown>) => Promise<boolean>;
  isBusy: boolean;
  failure: Failure | undefined;
  clear: () => void;
};

/** Something that people do: busy while it is done, with the failure if there was one. */
export function useAction(): Action {
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<Failure>();
  return {
    isBusy,
    failure,
    clear: () => setFailure(undefined),
    run: async (act) => {
      if (isBusy) return false;
      setBusy(true);
      setFailure(undefined);
      try {
        await act();
        return true;
      } catch (error) {
        if (!isAbort(error)) setFailure(asFailure(error));
        return false;
      } finally {
        setBusy(false);
      }
    },
  };
}
