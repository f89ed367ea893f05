import { useRef } from "preact/hooks";

type Ahead<Value> = {
  /** What was asked for ahead, while it is fresh. Otherwise asks now. */
  get: () => Promise<Value>;
  /** It is used up. */
  forget: () => void;
};

/**
 * Asks for something before the press that needs it: Safari lets a page act on a press, and not on an answer
 * that came after it.
 */
export function useAhead<Value>(ask: () => Promise<Value>, freshMilliseconds: number): Ahead<Value> {
  const asked = useRef<{ answer: Promise<Value>; until: number }>(undefined);
  const forget = (): void => {
    asked.current = undefined;
  };
  const get = (): Promise<Value> => {
    if (asked.current !== undefined && Date.now() < asked.current.until) return asked.current.answer;
    const answer = ask();
    asked.current = { answer, until: Date.now() + freshMilliseconds };
    // The press asks again, and tells why.
    answer.catch(forget);
    return answer;
  };
  return { get, forget };
}
