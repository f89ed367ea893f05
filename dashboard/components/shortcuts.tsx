/**
 * Keys that act on lists. An element says by `aria-keyshortcuts` which key presses it or goes to it; the rows
 * of the page's table are the rest. Nothing happens while people type or a dialog is open.
 */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { go, moves } from "../router.ts";
import { store, stored } from "../stored.ts";
import { Dialog } from "./dialog.tsx";
import { Fact } from "./facts.tsx";

const shortcuts = [
  ["j", "Next row"],
  ["k", "Previous row"],
  ["Enter", "Open the row"],
  ["x", "Select the row; with Shift and a click, all rows up to it"],
  ["e", "Acknowledge what is selected, or the row"],
  ["a", "Assign the breach to me"],
  ["z", "Undo what was just acknowledged"],
  ["/", "Search the page, or else for an address or its owner"],
  ["?", "Show this list"],
] as const;

const storedAs = "shortcuts";

/** Shortcuts of one character get in the way of speech input (WCAG 2.2, 2.1.4). So they can be turned off. */
const isOn = signal(stored(storedAs) !== "off");

const find = <E extends HTMLElement>(selector: string, within: ParentNode = document): E | null =>
  within.querySelector<E>(selector);

const currentRow = (): HTMLTableRowElement | null =>
  document.activeElement?.closest<HTMLTableRowElement>("main tbody tr") ?? null;

/** Where people were last. The row may be gone since, and the next has its place. */
let last: { table: Element | null; index: number } = { table: null, index: 0 };

/** Goes to the next row or the one before; from elsewhere to where people were in this table, or to the first. */
export function moveRow(steps: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLTableRowElement>("main tbody tr")];
  const table = find("main table");
  const current = currentRow();
  const next = current === null ? (last.table === table ? last.index : 0) : rows.indexOf(current) + steps;
  const index = Math.max(0, Math.min(rows.length - 1, next));
  last = { table, index };
  const row = rows[index];
  if (row !== undefined) (find("th a, th button", row) ?? find("input, a, button", row))?.focus();
}

const boxOf = (row: HTMLTableRowElement | null): HTMLInputElement | null =>
  row && find<HTMLInputElement>("input[type=checkbox]:enabled", row);

function press(key: string): boolean {
  const target = find(`[aria-keyshortcuts="${key}"]`);
  if (target === null) return false;
  if (target instanceof HTMLButtonElement) target.click();
  else target.focus();
  return true;
}

/** The move to another page whose search gets the focus. */
let searchedAt: number | undefined;

/** Whether people came to this page to search it. */
export const isForSearch = (): boolean => searchedAt === moves.peek();

function act(key: string): boolean {
  if (key === "j" || key === "k") moveRow(key === "j" ? 1 : -1);
  else if (key === "x") boxOf(currentRow())?.click();
  else if (key === "e" && find("main tbody input:checked") === null) {
    boxOf(currentRow())?.click();
    // The button learns of the selection when the page is drawn again.
    setTimeout(() => press(key));
  } else if (press(key)) return true;
  else if (key === "/") {
    searchedAt = moves.peek() + 1;
    go("/emails");
  } else return false;
  return true;
}

/** Also into elements of extensions, such as the search of a password manager, which hides its fields. */
const isTyping = ({ target }: KeyboardEvent): boolean =>
  target instanceof Element &&
  (target.matches("input:not([type=checkbox]), select, textarea") ||
    (target !== document.body && target.closest("#app") === null));

export function Shortcuts() {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      const isModified = event.ctrlKey || event.metaKey || event.altKey;
      if (isModified || event.defaultPrevented || isTyping(event) || find("dialog[open]")) return;
      if (event.key === "?") setShown(true);
      else if (!isOn.value || !act(event.key)) return;
      event.preventDefault();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
  if (!isShown) return null;
  const close = (): void => setShown(false);
  return (
    <Dialog title="Keyboard shortcuts" onClose={close} isText button="Close">
      <dl class="facts">
        {shortcuts.map(([key, what]) => (
          <Fact key={key} name={<kbd>{key}</kbd>}>
            {what}
          </Fact>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={isOn.value}
          onChange={({ currentTarget }) => {
            isOn.value = currentTarget.checked;
            store(storedAs, isOn.value ? "on" : "off");
          }}
        />{" "}
        Use these keys
      </label>
    </Dialog>
  );
}
