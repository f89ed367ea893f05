import type { ComponentChildren } from "preact";
import { useMemo, useRef, useState } from "preact/hooks";
import { number } from "../text/words.ts";
import { Button } from "./button.tsx";
import { say } from "./status.tsx";
import type { Column } from "./table.tsx";

type Options<Row> = {
  shown: readonly Row[];
  /** The accessible name of a row's checkbox. */
  labelOf: (row: Row) => string;
  /** A request names at most so many by their ids. */
  most: number;
  /** What the selection belongs to, such as filters: with others, nothing is selected. */
  belongsTo: string;
};

type Selected = { belongsTo: string; chosen: ReadonlySet<number>; isAll: boolean };

const none: ReadonlySet<number> = new Set();

/** Rows that are selected, on whatever page of the list. */
export function useSelection<Row extends { id: number }>({ shown, labelOf, most, belongsTo }: Options<Row>) {
  const nothing = { belongsTo, chosen: none, isAll: false };
  const [selection, select] = useState<Selected>(nothing);
  // Before anything is drawn, so that rows are drawn once.
  if (selection.belongsTo !== belongsTo) select(nothing);
  const { chosen, isAll } = selection;
  /** The row that was clicked last: a range begins there. */
  const last = useRef<number>(undefined);
  const ids = shown.map(({ id }) => id);

  const toggle = (some: readonly number[], isOn: boolean): void => {
    const next = new Set(chosen);
    for (const id of some) {
      if (!isOn) next.delete(id);
      else if (next.size < most) next.add(id);
      else if (!next.has(id)) say(`At most ${number(most)} can be selected one by one.`);
    }
    select({ belongsTo, chosen: next, isAll });
  };
  const click = (id: number, isOn: boolean, isRange: boolean): void => {
    const [from, to] = [ids.indexOf(last.current ?? id), ids.indexOf(id)].sort((one, other) => one - other);
    toggle(
      isRange && from !== undefined && from >= 0 && to !== undefined ? ids.slice(from, to + 1) : [id],
      isOn,
    );
    last.current = id;
  };

  const column = useMemo(
    (): Column<Row> => ({
      name: "Select",
      kind: "select",
      head: (
        <label>
          <input
            type="checkbox"
            aria-label="Select this page"
            checked={isAll || (ids.length > 0 && ids.every((id) => chosen.has(id)))}
            disabled={isAll}
            onChange={(event) => toggle(ids, event.currentTarget.checked)}
          />
          <span aria-hidden="true">Select this page</span>
        </label>
      ),
      cell: (row) => (
        <input
          type="checkbox"
          aria-label={labelOf(row)}
          checked={isAll || chosen.has(row.id)}
          disabled={isAll}
          onClick={(event) => click(row.id, event.currentTarget.checked, event.shiftKey)}
        />
      ),
    }),
    [shown, belongsTo, chosen, isAll],
  );
  return {
    column,
    chosen,
    isAll,
    selectAll: () => select({ belongsTo, chosen, isAll: true }),
    clear: () => select(nothing),
    /** Selects these rows again, after others or none. */
    restore: () => select(selection),
  };
}

type BarProps = {
  selected: number;
  /** How many match on all pages, where all can be selected. */
  total?: number;
  onAll?: () => void;
  onNone: () => void;
  children: ComponentChildren;
};

/** How many rows are selected, and what can be done with them. It stays in sight. */
export function SelectionBar({ selected, total = 0, onAll, onNone, children }: BarProps) {
  return (
    <fieldset class={`selection ${selected === 0 ? "none" : ""}`} aria-label="Selection">
      <strong role="status">{selected === 0 ? "None selected" : `${number(selected)} selected`}</strong>
      {onAll && (
        <Button
          kind="quiet"
          aria-keyshortcuts="Shift+X"
          onClick={onAll}
        >{`Select all matching (${number(total)})`}</Button>
      )}
      {selected > 0 && (
        <Button kind="quiet" onClick={onNone}>
          Select none
        </Button>
      )}
      <span class="space" />
      {selected > 0 && children}
    </fieldset>
  );
}
