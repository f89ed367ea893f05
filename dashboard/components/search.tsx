import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { go, place, refineQuery } from "../router.ts";
import { isForSearch, moveRow } from "./shortcuts.tsx";
import type { Data } from "./use-data.ts";

/** The pages of the rows that a search found; undefined as long as it is not known which these are. */
export const foundIn = (
  { isLoading, failure }: Data<unknown>,
  path: string,
  rows: readonly { id: number }[],
): string[] | undefined =>
  isLoading || failure !== undefined ? undefined : rows.map(({ id }) => `${path}/${id}`);

/** Fewer match too much. */
const minimumCharacters = 2;
const pauseMilliseconds = 250;

const isTooShort = (text: string): boolean => [...text].length < minimumCharacters;

type SearchProps = {
  hint: string;
  /** The pages of what was found; undefined while the search is under way. */
  results: readonly string[] | undefined;
};

/**
 * A field that searches the list while people type. What is searched for is in the URL. Enter opens the only
 * one that was found, or goes to the first of several.
 */
export function Search({ hint, results }: SearchProps) {
  const id = useId();
  const { q = "" } = place.value.query;
  const [isShort, setShort] = useState(false);
  const [isEntered, setEntered] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  /** What the field has put into the URL. */
  const refined = useRef(q);
  useEffect(() => () => clearTimeout(timer.current), []);
  useLayoutEffect(() => {
    if (isForSearch()) field.current?.focus();
  }, []);
  // After Back, or a link to the whole list.
  useEffect(() => {
    if (field.current !== null && q !== refined.current) field.current.value = q;
    refined.current = q;
  }, [q]);
  useEffect(() => {
    if (!isEntered || results === undefined) return;
    setEntered(false);
    const [only, another] = results;
    if (only !== undefined && another === undefined) go(only);
    else moveRow(1);
  }, [isEntered, results]);
  const refine = (text: string): void => {
    refined.current = isTooShort(text) ? "" : text;
    refineQuery({ q: refined.current });
  };
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
          setEntered(false);
          setShort(isTooShort(text) && text !== "");
          clearTimeout(timer.current);
          timer.current = window.setTimeout(() => refine(text), pauseMilliseconds);
        }}
        onKeyDown={({ key, currentTarget }) => {
          const text = currentTarget.value.trim();
          if (key !== "Enter" || isTooShort(text)) return;
          clearTimeout(timer.current);
          refine(text);
          setEntered(true);
        }}
      />
      {isShort && <small id={`${id}-short`}>Type at least two characters</small>}
    </search>
  );
}
