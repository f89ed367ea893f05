import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { place, setQuery } from "../router.ts";
import { Button } from "./button.tsx";
import { type Choice, Option } from "./field.tsx";

/** Parts of the URL's query that are no filter. */
const noFilters = ["offset", "q", "finding", "channel"];

/** The filters above a list. Narrow screens have them behind a button, which says how many are set. */
export function FilterBar({ children }: { children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  const set = Object.keys(place.value.query).filter((name) => !noFilters.includes(name)).length;
  return (
    <div class={`filters ${isOpen ? "open" : ""}`}>
      <Button aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        Filters{set > 0 && ` (${set})`}
      </Button>
      {children}
    </div>
  );
}

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
};

/** More choices than these are searched. */
const mostUnsearched = 20;

const anyOfThem: Choice = { value: "", label: "Any" };

/** A filter of a list. It is in the URL; what it offers is loaded when it is opened. */
export function Filter({ label, name, choices, chosenLabel, none = anyOfThem }: FilterProps) {
  const [loaded, setLoaded] = useState<readonly Choice[]>(Array.isArray(choices) ? choices : []);
  const [state, setState] = useState<"idle" | "loading" | "failed">("idle");
  const isAsked = useRef(false);
  const select = useRef<HTMLSelectElement>(null);
  const hadFocus = useRef(false);
  const value = place.value.query[name] ?? none.value;
  const load = (): void => {
    if (typeof choices !== "function" || isAsked.current) return;
    isAsked.current = true;
    setState("loading");
    choices().then(
      (all) => {
        hadFocus.current = document.activeElement === select.current;
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
  if (loaded.length > mostUnsearched) {
    return <Searched {...{ label, name, value, none }} choices={loaded} takesFocus={hadFocus.current} />;
  }
  return (
    <label class={`filter ${value === none.value ? "" : "set"}`}>
      <span>{label}</span>
      <select
        ref={select}
        value={value}
        aria-busy={state === "loading"}
        onFocus={load}
        onPointerEnter={load}
        onChange={({ currentTarget: { value } }) =>
          setQuery({ [name]: value === none.value ? undefined : value })
        }
      >
        <option value={none.value}>{none.label}</option>
        {isUnknown && (
          <Option
            value={value}
            label={chosenLabel ?? `One ${label.toLowerCase()}`}
            isName={chosenLabel !== undefined}
          />
        )}
        {loaded.map((choice) => (
          <Option key={choice.value} {...choice} />
        ))}
        {state === "loading" && <option disabled>Loading …</option>}
        {state === "failed" && <option disabled>Could not load: open this again</option>}
      </select>
    </label>
  );
}

/** A filter by a day of the reader's calendar. It is in the URL. */
export const DayFilter = ({ label, name }: { label: string; name: string }) => {
  const value = place.value.query[name] ?? "";
  return (
    <label class={`filter ${value === "" ? "" : "set"}`}>
      <span>{label}</span>
      <input
        type="date"
        value={value}
        onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value || undefined })}
      />
    </label>
  );
};

/** Lists that have levels are worst first, unless people want another order. */
export const OrderFilter = ({ orders = [] }: { orders?: readonly Choice[] }) => (
  <Filter
    label="Order"
    name="order"
    choices={[...orders, { value: "newest", label: "Newest first" }]}
    none={{ value: "severity", label: "Worst first" }}
  />
);

type SearchedProps = {
  label: string;
  name: string;
  value: string;
  none: Choice;
  choices: readonly Choice[];
  /** It takes the place of a list that had the focus. */
  takesFocus: boolean;
};

/** Many choices: the browser offers those that have what was typed, and the first of them is taken. */
function Searched({ label, name, value, none, choices, takesFocus }: SearchedProps) {
  const list = useId();
  const field = useRef<HTMLInputElement>(null);
  const chosen = choices.find((choice) => choice.value === value)?.label ?? "";
  useLayoutEffect(() => {
    if (takesFocus) field.current?.focus();
  }, []);
  useEffect(() => {
    if (field.current !== null) field.current.value = chosen;
  }, [chosen]);
  const choose = (input: HTMLInputElement): void => {
    const typed = input.value.trim().toLowerCase();
    const match =
      choices.find(({ label }) => label.toLowerCase() === typed) ??
      choices.find(({ label }) => label.toLowerCase().includes(typed));
    if (typed === "") setQuery({ [name]: undefined });
    else if (match === undefined) input.value = chosen;
    else {
      input.value = match.label;
      setQuery({ [name]: match.value });
    }
  };
  return (
    <label class={`filter ${value === none.value ? "" : "set"}`}>
      <span>{label}</span>
      <input
        ref={field}
        type="search"
        list={list}
        placeholder={none.label}
        autocomplete="off"
        onChange={({ currentTarget }) => choose(currentTarget)}
      />
      <datalist id={list}>
        {choices.map(({ value, label }) => (
          <option key={value} value={label} />
        ))}
      </datalist>
    </label>
  );
}
