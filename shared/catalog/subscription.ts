/** What the HIBP subscription allows: its rate and the domains it can search. Kept in the table, refreshed from HIBP. */
import type { UpstreamFailure } from "./hibp.ts";

export type Subscription = {
  /** Requests a minute. */
  rpm: number;
  /** When HIBP said so, ISO 8601. */
  at: string;
};

/** How long callers wait for a turn at the upstream, unless they say otherwise. */
export type Waiting = { waitSeconds?: number };

/**
 * The subscription as it was known at most `maxAgeSeconds` ago (default: an hour, four syncs). When it can't be
 * refreshed because HIBP does not answer, an older one is returned.
 * @throws UpstreamFailure when there is none, or the key is not accepted.
 */
export const current = async (options: { maxAgeSeconds?: number } & Waiting = {}): Promise<Subscription> => {
  throw new Error(`not yet ${options}`);
};

/**
 * Those of these domains (lower case) that the subscription can search. Asks HIBP again when one is missing and what
 * is known is older than a minute.
 */
export const covered = async (domains: readonly string[], options: Waiting = {}): Promise<Set<string>> => {
  throw new Error(`not yet ${domains} ${options}`);
};

/** Asks HIBP (two calls) and stores its answers. Throws `UpstreamFailure`; what is stored then stays. */
export const refresh = async (options: Waiting = {}): Promise<Subscription> => {
  throw new Error(`not yet ${options} ${undefined as UpstreamFailure | undefined}`);
};
