/** The current place, and ways to another. */
import { signal } from "@preact/signals";
import { addressOf, base, changed, type Place, placeOf, type QueryValues } from "./place.ts";

const read = (): Place => placeOf(location.pathname, location.search);

export const place = signal<Place>(read());

/** Counts moves to another page, so that the page can take the focus; the first page does not. */
export const moves = signal(0);

const follow = (): void => {
  const before = place.value.path;
  place.value = read();
  if (before === place.value.path) return;
  moves.value += 1;
  scrollTo(0, 0);
};

export function go(path: string, query?: QueryValues): void {
  history.pushState(null, "", addressOf(path, query));
  follow();
}

/** Changes some of the query; undefined removes a value. */
export function setQuery(changes: QueryValues): void {
  history.pushState(null, "", changed(place.value, changes));
  follow();
}

const over = "over";

/** As `setQuery`, for what lies over the page until `leaveOver` removes it from the query. */
export function openOver(changes: QueryValues): void {
  history.pushState(over, "", changed(place.value, changes));
  follow();
}

/** As `openOver`, in the place of what lies there already. */
export function turnOver(changes: QueryValues): void {
  history.replaceState(history.state, "", changed(place.value, changes));
  follow();
}

/**
 * Goes back to the page below, so that Back then leads to where people came from. Whoever opened a link has
 * been nowhere before.
 */
export function leaveOver(changes: QueryValues): void {
  const isAbove = history.state === over;
  // At once: going back takes the browser a moment.
  replace(changed(place.value, changes));
  if (isAbove) history.back();
}

/** As `setQuery`, without a way back: of what changes letter by letter, Back undoes all. */
export const refineQuery = (changes: QueryValues): void => replace(changed(place.value, changes));

/** Goes to an address of the dashboard, without a way back to the present place. */
export function replace(address: string): void {
  history.replaceState(null, "", address);
  follow();
}

/** Follows Back and Forward, and clicks on links to the dashboard's own places. */
export function listen(): void {
  addEventListener("popstate", follow);
  document.addEventListener("click", (event) => {
    const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey);
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!isPlain || event.defaultPrevented || link === null || link.target !== "" || link.hash !== "") return;
    if (link.hasAttribute("download") || link.origin !== location.origin) return;
    if (link.pathname !== base && !link.pathname.startsWith(`${base}/`)) return;
    event.preventDefault();
    history.pushState(null, "", link.href);
    follow();
  });
}
