import { keys, timeToLive } from "../table/keys.ts";
import * as table from "../table/table.ts";

/** Fixed windows, aligned to the UTC minute or hour (interface.md "Limits", decisions.md "Limits"). */
export const perMinute = { address: 100, key: 100 } as const;

/** Hourly budgets of an organization; endpoints that name the same bucket share it. */
export const organizationLimits = {
  scans: 10,
  importPreviews: 20,
  importCommits: 20,
  emailChanges: 60,
  emailAddsAndRemovals: 60,
  alertConfigWrites: 60,
} as const;

export type OrganizationLimit = keyof typeof organizationLimits;

/** Which requests count, where not all do, as a client reads it (interface.md "Limits"). */
export const countedRequests: Partial<Record<OrganizationLimit, string>> = {
  alertConfigWrites: "Slack or webhook writes that resolve a hostname",
};

/** A window: its name (the UTC minute or hour it is aligned to), and when it ends. */
type Window = { name: string; endsAt: number };

const windowAt = (now: Date, seconds: 60 | 3600): Window => {
  const start = Math.floor(now.getTime() / 1000 / seconds) * seconds;
  return { name: String(start), endsAt: start + seconds };
};

/**
 * Counts one request against a window. Exactly `limit` requests pass per window, however many arrive at once: each gets a
 * number of its own. One write unit. Gives 0 when the request passes, otherwise the whole seconds until the window ends.
 */
const count = async (subject: string, limit: number, seconds: 60 | 3600, now: Date): Promise<number> => {
  const window = windowAt(now, seconds);
  const row = await table.update<{ requests: number }>(keys.limit(subject, window.name), {
    add: { requests: 1 },
    setOnce: { [timeToLive]: window.endsAt + seconds },
  });
  return row.requests <= limit ? 0 : secondsLeft(window, now);
};

const secondsLeft = ({ endsAt }: Window, now: Date): number =>
  Math.max(1, Math.ceil(endsAt - now.getTime() / 1000));

export const countAddress = async (address: string, now: Date): Promise<number> => {
  const seconds = await count(`ADDRESS#${address}`, perMinute.address, 60, now);
  if (seconds > 0) rememberRefused(address, windowAt(now, 60));
  return seconds;
};

/** Addresses that this instance has seen refused, of one window only: their counts cannot fall before it ends. */
let refused = { window: "", addresses: new Set<string>() };
const maximumRefused = 5_000;

const rememberRefused = (address: string, { name }: Window): void => {
  if (refused.window !== name) refused = { window: name, addresses: new Set() };
  if (refused.addresses.size < maximumRefused) refused.addresses.add(address);
};

/**
 * What `countAddress` would give an address that is known to be over its limit, otherwise 0. It asks nothing of the table,
 * so a flood of refused requests writes nothing.
 */
export const secondsRefused = (address: string, now: Date): number => {
  const window = windowAt(now, 60);
  return refused.window === window.name && refused.addresses.has(address) ? secondsLeft(window, now) : 0;
};

const keySubject = (hash: string): string => `KEY#${hash}`;

/** `hash`: what the key is stored under. */
export const countKey = (hash: string, now: Date): Promise<number> =>
  count(keySubject(hash), perMinute.key, 60, now);

/**
 * Takes back what `countKey` counted at this time, of a request that did not pass. Until then others may be refused in its
 * place. Those that passed stay counted, so more than the limit never pass (but one, when the reply to this write gets
 * lost and the SDK repeats it). One write unit.
 */
export const uncountKey = async (hash: string, now: Date): Promise<void> => {
  await table.update(keys.limit(keySubject(hash), windowAt(now, 60).name), { add: { requests: -1 } });
};

export const countOrganization = (org: number, limit: OrganizationLimit, now: Date): Promise<number> =>
  count(`ORG#${org}#${limit}`, organizationLimits[limit], 3600, now);
