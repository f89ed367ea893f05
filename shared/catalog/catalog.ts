/**
 * The catalog of breaches. HIBP's name of a breach is its permanent key; our integer id is minted from it, once. A
 * breach that vanishes from HIBP's list keeps its last details.
 */
import type { Breach } from "./schema.ts";

/** Ids of breaches. `isBaseline`: the catalog was never synced completely before. */
export type News = { added: number[]; changed: number[]; isBaseline: boolean };

/**
 * Brings the catalog up to HIBP's list. `announce` is called with what is new before it is recorded as known, so a
 * crash repeats an announcement but never loses one; it is not called when nothing is new.
 * @throws UpstreamFailure; the catalog then stays as it is.
 */
export const sync = async (
  announce: (news: News) => Promise<void> = async () => {},
  options: { waitSeconds?: number } = {},
): Promise<News> => {
  throw new Error(`not yet ${announce} ${options}`);
};

/** name → id of every breach that is known. */
export const ids = async (): Promise<Map<string, number>> => {
  throw new Error("not yet");
};

/** name → id of all these names. A name that is new gets its id here, with HIBP's details if HIBP gives them now. */
export const idsFor = async (names: Iterable<string>): Promise<Map<string, number>> => {
  throw new Error(`not yet ${names}`);
};

/** id → details, eventually consistent (after a sync up to about a second old). Unknown ids are left out. */
export const details = async (ids: Iterable<number>): Promise<Map<number, Breach>> => {
  throw new Error(`not yet ${ids}`);
};
