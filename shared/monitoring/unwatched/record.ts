/**
 * Breached addresses of a domain that nobody watches. Sub-addresses of a watched address, `ada+shop@` of
 * `ada@`, are on that e-mail's row instead. The domain's row keeps hashes of erased addresses.
 */
import { createHash } from "node:crypto";

/** An alias that HIBP names, when it first did (ISO 8601), and the ids of its breaches, ascending. */
export type Breached = { alias: string; firstSeenAt: string; breachIds: readonly number[] };

/**
 * All that is kept of a domain. `breached`: HIBP's last answer, less what was watched then, by alias.
 * `ignored`: addresses as they were when somebody ignored them, which HIBP may not name any more. `watched`:
 * aliases that were watched from the list since the answer. `left`: the ids of the last addresses that left
 * it.
 */
export type Kept = {
  breached: readonly Breached[];
  ignored: readonly Breached[];
  watched: readonly string[];
  left: readonly number[];
};

export type Listed = Breached & { ignored: boolean };

/** What people see of a domain. */
export const listedIn = ({ breached, ignored, watched }: Kept): Listed[] => {
  const isIgnored = new Set(ignored.map(({ alias }) => alias));
  const isWatched = new Set(watched);
  return breached
    .filter(({ alias }) => !isWatched.has(alias))
    .map((each) => ({ ...each, ignored: isIgnored.has(each.alias) }));
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
