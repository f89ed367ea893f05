/** Where somebody wanted to go before signing in; a mailed link opens the page anew. */
import { addressOf, base } from "../../place.ts";
import { replace } from "../../router.ts";

const key = "next-place";
const goodForMilliseconds = 15 * 60_000;

export function rememberPlace(): void {
  const value = { address: location.pathname + location.search, at: Date.now() };
  localStorage.setItem(key, JSON.stringify(value));
}

/** Leaves the sign-in page for that place, or for the overview. */
export function goOn(): void {
  const stored = localStorage.getItem(key);
  localStorage.removeItem(key);
  const { address, at } = JSON.parse(stored ?? "{}") as { address?: string; at?: number };
  const isGood = address?.startsWith(`${base}/`) && Date.now() - (at ?? 0) < goodForMilliseconds;
  replace(isGood && address !== undefined ? address : addressOf("/"));
}
