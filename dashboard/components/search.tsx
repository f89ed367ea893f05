import { useEffect, useId, useRef, useState } from "preact/hooks";
import { place, refineQuery } from "../router.ts";

/** Fewer find too much. */
const minimumCharacters = 2;
const pauseMilliseconds = 250;

/** A field that searches the list while people type. What is searched for is in the URL. */
export function Search({ hint }: { hint: string }) {
  const id = useId();
  const { q = "" } = place.value.query;
  const [isShort, setShort] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  // After Back, or a link to the whole list.
  useEffect(() => {
    if (field.current !== null && document.activeElement !== field.current) field.current.value = q;
  }, [q]);
  return (
    <search class="filter">
      <label for={id}>Search</label>
      <input
        ref={field}
        id={id}
        type="search"
        defaultValue={q}
        maxLength={200}
        placeholder={hint}
        autocomplete="off"
        aria-keyshortcuts="/"
        aria-describedby={isShort ? `${id}-short` : undefined}
        onInput={({ currentTarget }) => {
          const text = currentTarget.value.trim();
          const isTooShort = [...text].length < minimumCharacters;
          setShort(isTooShort && text !== "");
          clearTimeout(timer.current);
          timer.current = window.setTimeout(
            () => refineQuery({ q: isTooShort ? undefined : text }),
            pauseMilliseconds,
          );
        }}
      />
      {isShort && <small id={`${id}-short`}>Two letters at least</small>}
    </search>
  );
}
