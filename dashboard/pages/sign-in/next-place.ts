/** Where somebody wanted to go before signing in; a mailed link opens the page anew. */
import { addressOf, base } from "../../place.ts";
import { replace } from "../../router.ts";
import { store, stored } from "../../stored.ts";

const key = "next-place";
const goodForMilliseconds = 15 * 60_000;

export function rememberPlace(): void {
  const value = { address: location.pathname + location.search, at: Date.now() };
  store(key, JSON.stringify(value));
}

/** Leaves the sign-in page for that place, or for the overview. */
export function goOn(): void {
  const { address, at } = JSON.parse(stored(key) ?? "{}") as { address?: string; at?: number };
  store(key, null);
  const isGood = address?.startsWith(`${base}/`) && Date.now() - (at ?? 0) < goodForMilliseconds;
  replace(isGood && address !== undefined ? address : addressOf("/"));
}
