/**
 * Breached addresses of a domain that nobody watches. Sub-addresses of a watched address, `ada+shop@` of
 * `ada@`, are on that e-mail's row instead. The domain's row keeps hashes of erased addresses.
 */
import { createHash } from "node:crypto";

/**
 * An alias that HIBP names, when it first did (ISO 8601), and the ids of its breaches, ascending. `lastNewAt`: when
 * HIBP first named it in the newest of them. `isSevere`: that was news of a breach of high severity or above.
 */
export type Breached = {
  alias: string;
  firstSeenAt: string;
  breachIds: readonly number[];
  lastNewAt: string;
  isSevere: boolean;
};

/** An address as it was when somebody ignored it. HIBP may not name it any more. */
export type Ignored = Breached & { ignoredAt: string };

/**
 * All that is kept of a domain. `breached`: HIBP's last answer, less what was watched then, by alias.
 * `watched`: aliases that were watched from the list since the answer. `left`: the ids of the last addresses that left
 * it.
 */
export type Kept = {
  breached: readonly Breached[];
  ignored: readonly Ignored[];
  watched: readonly string[];
  left: readonly number[];
};

export type Listed = Breached & { ignored: boolean; ignoredAt: string | undefined };

/** What people see of a domain. */
export const listedIn = ({ breached, ignored, watched }: Kept): Listed[] => {
  const ignoredAt = new Map(ignored.map((each) => [each.alias, each.ignoredAt]));
  const isWatched = new Set(watched);
  return breached
    .filter(({ alias }) => !isWatched.has(alias))
    .map((each) => ({ ...each, ignored: ignoredAt.has(each.alias), ignoredAt: ignoredAt.get(each.alias) }));
};

/** The same, and the addresses that somebody ignored and HIBP does not name any more: a later answer may. */
export const everyIn = (kept: Kept): Listed[] => {
  const named = new Set(kept.breached.map(({ alias }) => alias));
  const others = kept.ignored.filter(({ alias }) => !named.has(alias));
  return [...listedIn(kept), ...others.map((each) => ({ ...each, ignored: true }))];
};

/**
 * What is told of a domain without its documents. `open`: how many addresses are not ignored; `severeAt`: the latest
 * severe news of them; `byBreach`: how many of them are in each breach; `watched`: how many were since the answer.
 */
export type Sums = { open: number; watched: number; severeAt?: string; byBreach: Record<string, number> };

export const sumsOf = (kept: Kept): Sums => {
  const open = listedIn(kept).filter(({ ignored }) => !ignored);
  const byBreach: Record<string, number> = {};
  for (const { breachIds } of open) for (const id of breachIds) byBreach[id] = (byBreach[id] ?? 0) + 1;
  const severeAt = open.reduce(
    (latest, { isSevere, lastNewAt }) => (isSevere && lastNewAt > latest ? lastNewAt : latest),
    "",
  );
  return {
    open: open.length,
    watched: kept.watched.length,
    ...(severeAt !== "" && { severeAt }),
    byBreach,
  };
};

/**
 * The id of an address: 53 bits of a hash, so that nothing has to be drawn or kept for it. Two of an
 * organization's 500,000 addresses share an id with a probability of 1 to 72,000 (n² ÷ 2⁵⁴). People then
 * change them together.
 */
export const idOf = (domainId: number, alias: string): number => {
  const digest = createHash("sha256").update(`${domainId} ${alias}`).digest();
  return (digest.readUInt32BE(0) >>> 11) * 2 ** 32 + digest.readUInt32BE(4) || 1;
};

/** What is kept of an alias that was erased. */
export const hashOf = (alias: string): string => createHash("sha256").update(alias).digest("base64url");
