/** What the browser keeps for the page. Browsers that block cookies keep nothing, and throw at each look. */
type Place = "localStorage" | "sessionStorage";

export function stored(key: string, place: Place = "localStorage"): string | null {
  try {
    return globalThis[place].getItem(key);
  } catch {
    return null;
  }
}

/** Keeps a value; null forgets it. Returns whether the browser does that. */
export function store(key: string, value: string | null, place: Place = "localStorage"): boolean {
  try {
    if (value === null) globalThis[place].removeItem(key);
    else globalThis[place].setItem(key, value);
    return true;
  } catch {
    return false;
  }
}
