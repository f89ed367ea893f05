import { useRef, useState } from "preact/hooks";
import { place, setQuery } from "../router.ts";
import type { Choice } from "./field.tsx";

type FilterProps = {
  label: string;
  /** The name of the query's value. */
  name: string;
  /** What there is to choose from, or how to load it when somebody is about to choose. */
  choices: readonly Choice[] | (() => Promise<readonly Choice[]>);
  /** The label of the chosen value as long as the choices are not loaded. */
  chosenLabel?: string | undefined;
  /** What the list shows when the URL has no value. */
  none?: Choice;
  shortcut?: string;
};

const anyOfThem: Choice = { value: "", label: "Any" };

/** A filter of a list. It is in the URL; what it offers is loaded when it is opened. */
export function Filter({ label, name, choices, chosenLabel, none = anyOfThem, shortcut }: FilterProps) {
  const [loaded, setLoaded] = useState<readonly Choice[]>(Array.isArray(choices) ? choices : []);
  const [state, setState] = useState<"idle" | "loading" | "failed">("idle");
  const isAsked = useRef(false);
  const value = place.value.query[name] ?? none.value;
  const load = (): void => {
    if (typeof choices !== "function" || isAsked.current) return;
    isAsked.current = true;
    setState("loading");
    choices().then(
      (all) => {
        setLoaded(all);
        setState("idle");
      },
      () => {
        isAsked.current = false;
        setState("failed");
      },
    );
  };
  const isUnknown = value !== none.value && !loaded.some((choice) => choice.value === value);
  return (
    <label class="filter">
      <span>{label}</span>
      <select
        value={value}
        aria-busy={state === "loading"}
        onFocus={load}
        onPointerEnter={load}
        aria-keyshortcuts={shortcut}
        onChange={({ currentTarget: { value } }) =>
          setQuery({ [name]: value === none.value ? undefined : value })
        }
      >
        <option value={none.value}>{none.label}</option>
        {isUnknown && <option value={value}>{chosenLabel ?? `One ${label.toLowerCase()}`}</option>}
        {loaded.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
        {state === "loading" && <option disabled>Loading …</option>}
        {state === "failed" && <option disabled>Not loaded: open this again</option>}
      </select>
    </label>
  );
}
