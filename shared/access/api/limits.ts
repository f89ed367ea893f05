import { setTimeout } from "node:timers/promises";
import { condition } from "../../aws/table/condition.ts";
import { keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import {
  type OrganizationLimit,
  organizationLimits,
  perMinute,
  signInLinksPerHour,
} from "../../contract/limits.ts";

/** A UTC minute or hour. `name` is its start and `endsAt` its end, both in epoch seconds. */
type Window = { name: string; endsAt: number };

const windowAt = (now: Date, seconds: 60 | 3600): Window => {
  const start = Math.floor(now.getTime() / 1000 / seconds) * seconds;
  return { name: String(start), endsAt: start + seconds };
};

/**
 * Counts one request against the current window, atomically, so that exactly `limit` concurrent requests
 * pass. Costs one write unit.
 */
const count = async (subject: string, limit: number, seconds: 60 | 3600, now: Date): Promise<Counted> => {
  const window = windowAt(now, seconds);
  const row = await table.update<{ requests: number }>(keys.limit(subject, window.name), {
    add: { requests: 1 },
    setOnce: { [timeToLive]: window.endsAt + seconds },
  });
  return countedAs(limit - row.requests, window, now);
};

/** A request that was counted. `remaining`: how many more pass in the window, below 0 if this one does not. */
export type Counted = {
  remaining: number;
  /** Until the window ends, at least 1. */
  windowSeconds: number;
  /** 0 if the request passes, else `windowSeconds`. */
  refusedSeconds: number;
};

const countedAs = (remaining: number, window: Window, now: Date): Counted => {
  const windowSeconds = secondsLeft(window, now);
  return { remaining, windowSeconds, refusedSeconds: remaining < 0 ? windowSeconds : 0 };
};

const secondsLeft = ({ endsAt }: Window, now: Date): number =>
  Math.max(1, Math.ceil(endsAt - now.getTime() / 1000));

/** What requests of a minute are counted by: a source address in /api/v1 or in the dashboard's part, or the hash of a key or session. */
type Counter = "ADDRESS" | "DASHBOARD" | "KEY" | "SESSION";

const subjectOf = (counter: Counter, name: string): string => `${counter}#${name}`;

/** Counts a request of a source address, or of the session with this hash. */
export const countMinute = async (
  counter: Exclude<Counter, "KEY">,
  name: string,
  now: Date,
): Promise<Counted> => {
  const subject = subjectOf(counter, name);
  const limit = counter === "SESSION" ? perMinute.session : perMinute.address;
  const counted = await count(subject, limit, 60, now);
  if (counted.refusedSeconds > 0) rememberRefused(subject, windowAt(now, 60));
  return counted;
};

/**
 * Subjects over their limit, of the latest window that this instance saw. Counts never fall within a window, but for those of
 * keys (`uncountKey`).
 */
let refused = { window: "", subjects: new Set<string>() };
const maximumRefused = 5_000;

const rememberRefused = (subject: string, { name }: Window): void => {
  if (refused.window !== name) refused = { window: name, subjects: new Set() };
  if (refused.subjects.size < maximumRefused) refused.subjects.add(subject);
};

/**
 * The seconds until the window ends if this instance knows the subject to be over its limit, otherwise 0.
 * Does not access the table, so that a flood of refused requests writes nothing.
 */
export const secondsRefused = (counter: Counter, name: string, now: Date): number => {
  const window = windowAt(now, 60);
  const isRefused = refused.window === window.name && refused.subjects.has(subjectOf(counter, name));
  return isRefused ? secondsLeft(window, now) : 0;
};

/** Counts a request of the key with this hash unless it is beyond the limit. */
export const countKey = async (hash: string, now: Date): Promise<Counted> => {
  const window = windowAt(now, 60);
  try {
    const { requests } = await table.update<{ requests: number }>(
      keys.limit(subjectOf("KEY", hash), window.name),
      {
        add: { requests: 1 },
        setOnce: { [timeToLive]: window.endsAt + 60 },
        if: condition("attribute_not_exists(#requests) OR #requests < :limit", { limit: perMinute.key }),
      },
    );
    return countedAs(perMinute.key - requests, window, now);
  } catch (error) {
    if (!(error instanceof table.ConditionFailed)) throw error;
    return countedAs(-1, window, now);
  }
};

/** In milliseconds. Together they outlast the writes of `uncountKey` that requests at the same time make. */
const recountPauses = [50, 100, 200];

/**
 * Counts a request that `countKey` has refused, once other requests of the key have been uncounted. An
 * instance that has done so in vain does not try it again in this window.
 */
export const recountKey = async (hash: string, now: Date): Promise<Counted> => {
  for (const pause of recountPauses) {
    if (secondsRefused("KEY", hash, now) > 0) break;
    await setTimeout(pause);
    const counted = await countKey(hash, now);
    if (counted.refusedSeconds === 0) return counted;
  }
  const window = windowAt(now, 60);
  rememberRefused(subjectOf("KEY", hash), window);
  return countedAs(-1, window, now);
};

/**
 * Undoes `countKey(hash, now)` for a request that it has counted and another check has refused. One request more than the limit
 * passes when the SDK repeats this write after a lost reply. One write unit.
 */
export const uncountKey = async (hash: string, now: Date): Promise<void> => {
  await table.update(keys.limit(subjectOf("KEY", hash), windowAt(now, 60).name), { add: { requests: -1 } });
};

/** Counts a request against an hourly budget of the organization. */
export const countOrganization = (org: number, limit: OrganizationLimit, now: Date): Promise<Counted> =>
  count(`ORG#${org}#${limit}`, organizationLimits[limit], 3600, now);

/**
 * Counts a sign-in link that is asked for with an e-mail address, whether or not somebody has it.
 */
export const countSignInLink = (email: string, now: Date): Promise<Counted> =>
  count(`SIGN-IN#${email}`, signInLinksPerHour, 3600, now);
