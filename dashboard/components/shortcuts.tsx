/**
 * Keys that act on lists. An element says by `aria-keyshortcuts` which key presses it or goes to it; the rows
 * of the page are the rest. An open dialog answers only for its own elements. Nothing happens while people type.
 */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { go, moves } from "../router.ts";
import { store, stored } from "../stored.ts";
import { Dialog } from "./dialog.tsx";
import { Fact } from "./facts.tsx";

const shortcuts = [
  ["j", "Next row; of an open finding, the next one"],
  ["k", "Previous row or finding"],
  ["Enter", "Open the row"],
  ["x", "Select the row; with Shift and a click, all rows up to it"],
  ["X", "Select all that match, on every page"],
  ["e", "Acknowledge what is selected, or the row, at once"],
  ["E", "Acknowledge with a resolution and a reason; Ctrl and Enter sends"],
  ["t", "Tell the owners of what is selected, or of the row"],
  ["a", "Assign the breach to me: the one that is open, or the row"],
  ["w", "Watch what is selected, or the row"],
  ["i", "Ignore what is selected, or the row"],
  ["z", "Undo what was just acknowledged or ignored"],
  ["/", "Search the page, or else for an address or its owner"],
  ["?", "Show this list"],
] as const;

const storedAs = "shortcuts";

/** Shortcuts of one character get in the way of speech input (WCAG 2.2, 2.1.4). So they can be turned off. */
const isOn = signal(stored(storedAs) !== "off");

const find = <E extends HTMLElement>(selector: string, within: ParentNode = document): E | null =>
  within.querySelector<E>(selector);

const rowIs = "tbody tr, .ranking li";

const currentRow = (): HTMLElement | null =>
  document.activeElement?.closest<HTMLElement>(`main :is(${rowIs})`) ?? null;

/** Where people were last. The row may be gone since, and the next has its place. */
let last: { table: Element | null; index: number } = { table: null, index: 0 };

const rowsOfPage = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>(`main :is(${rowIs})`)];

/** What a key does to a row that has no button for it. A function: hundreds of components would take time. */
export const rowKey = (key: string, act: () => void) => (
  <button type="button" hidden data-key={key} onClick={act} />
);

function pressInRow(key: string): boolean {
  const row = currentRow();
  const button = row && find(`[data-key="${key}"]`, row);
  button?.click();
  return button !== null;
}

/** Goes to the next row or the one before; from elsewhere to where people were in this table, or to the first. */
export function moveRow(steps: 1 | -1): void {
  const rows = rowsOfPage();
  const table = find("main :is(table, .ranking)");
  const current = currentRow();
  const next = current === null ? (last.table === table ? last.index : 0) : rows.indexOf(current) + steps;
  const index = Math.max(0, Math.min(rows.length - 1, next));
  last = { table, index };
  const row = rows[index];
  if (row !== undefined)
    (find("th a, th button", row) ?? find("input, a, button:not([hidden])", row))?.focus();
}

/** Goes on from a row that will be gone: to the next, or from the last one to the one before. */
function leaveRow(row: HTMLElement): void {
  const index = rowsOfPage().indexOf(row);
  const isLast = index === rowsOfPage().length - 1;
  moveRow(isLast ? -1 : 1);
  // What comes after the row has its place once it is gone.
  last.index = isLast ? index - 1 : index;
}

const boxOf = (row: HTMLElement | null): HTMLInputElement | null =>
  row && find<HTMLInputElement>("input[type=checkbox]:enabled", row);

function press(key: string, within: ParentNode = document): boolean {
  const name = /[A-Z]/.test(key) ? `Shift+${key}` : key;
  const target = find(`[aria-keyshortcuts="${name}"]`, within);
  if (target === null) return false;
  if (target instanceof HTMLButtonElement) target.click();
  else target.focus();
  return true;
}

/** The move to another page whose search gets the focus. */
let searchedAt: number | undefined;

/** Whether people came to this page to search it. */
export const isForSearch = (): boolean => searchedAt === moves.peek();

/** These act on the row, where nothing is selected. */
const ofRows = ["e", "E", "t", "w", "i"];
/** After these, the row leaves the list. */
const leaving = ["e", "i"];

/** Acts on the row where people are, unless something is selected in its list. */
function actOnRow(key: string): boolean {
  const row = currentRow();
  const box = boxOf(row);
  const list = row?.closest(".table-box")?.parentElement;
  if (row === null || box === null || !list) return false;
  if (find(":scope > .table-box tbody input:checked", list) !== null) return false;
  box.click();
  // The bar learns of the selection when the page is drawn again, which is due already. The next key comes later.
  queueMicrotask(() => {
    const bar = find(":scope > .selection", list);
    if (bar === null || !press(key, bar)) box.click();
    else if (leaving.includes(key)) leaveRow(row);
  });
  return true;
}

const pressInBar = (key: string): boolean =>
  [...document.querySelectorAll(".selection")].some((bar) => press(key, bar));

function act(key: string): boolean {
  const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
  if (dialog !== undefined) return press(key, dialog);
  if (key === "j" || key === "k") moveRow(key === "j" ? 1 : -1);
  else if (key === "x") boxOf(currentRow())?.click();
  else if (pressInRow(key)) return true;
  else if (ofRows.includes(key) && (actOnRow(key) || pressInBar(key))) return true;
  else if (press(key)) return true;
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
      if (isModified || event.defaultPrevented || isTyping(event)) return;
      // A key that is held down goes through the rows, and decides nothing of them.
      if (event.repeat && event.key !== "j" && event.key !== "k") return;
      if (event.key === "?" && find("dialog[open]") === null) setShown(true);
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
