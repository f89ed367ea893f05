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
 * Counts one request against the current window unless it is beyond the limit, atomically, so that exactly `limit` concurrent requests
 * pass. Costs one write unit.
 */
const count = async (subject: string, limit: number, seconds: 60 | 3600, now: Date): Promise<Counted> => {
  const window = windowAt(now, seconds);
  const counting = table.update<{ requests: number }>(keys.limit(subject, window.name), {
    add: { requests: 1 },
    setOnce: { [timeToLive]: window.endsAt + seconds },
    if: condition("attribute_not_exists(#requests) OR #requests < :limit", { limit }),
  });
  const counted = await table.attempt(counting);
  const windowSeconds = secondsLeft(window, now);
  return counted.written
    ? { remaining: limit - counted.value.requests, windowSeconds, refusedSeconds: 0 }
    : { remaining: 0, windowSeconds, refusedSeconds: windowSeconds };
};

/** A request that was counted. `remaining`: how many more pass in the window. */
export type Counted = {
  remaining: number;
  /** Until the window ends, at least 1. */
  windowSeconds: number;
  /** 0 if the request passes, else `windowSeconds`. */
  refusedSeconds: number;
};

const secondsLeft = ({ endsAt }: Window, now: Date): number =>
  Math.max(1, Math.ceil(endsAt - now.getTime() / 1000));

/** What requests of a minute are counted by: a source address in /api/v1 or in the dashboard's part, or the hash of a key or session. */
type Counter = "ADDRESS" | "DASHBOARD" | "KEY" | "SESSION";

const subjectOf = (counter: Counter, name: string): string => `${counter}#${name}`;

const limits: Record<Counter, number> = {
  ADDRESS: perMinute.address,
  DASHBOARD: perMinute.address,
  KEY: perMinute.key,
  SESSION: perMinute.session,
};

/** Counts a request of a source address, or of the key or session with this hash. */
export const countMinute = async (counter: Counter, name: string, now: Date): Promise<Counted> => {
  const subject = subjectOf(counter, name);
  const counted = await count(subject, limits[counter], 60, now);
  if (counted.refusedSeconds > 0 && counter !== "KEY") rememberRefused(subject, windowAt(now, 60));
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

/** In milliseconds. Together they outlast the writes of `uncountKey` that requests at the same time make. */
const recountPauses = [50, 100, 200];

/**
 * Counts a request of a key that was refused, once other requests of the key have been uncounted. An
 * instance that has done so in vain does not try it again in this window.
 */
export const recountKey = async (hash: string, now: Date, before: Counted): Promise<Counted> => {
  for (const pause of recountPauses) {
    if (secondsRefused("KEY", hash, now) > 0) break;
    await setTimeout(pause);
    const counted = await countMinute("KEY", hash, now);
    if (counted.refusedSeconds === 0) return counted;
  }
  rememberRefused(subjectOf("KEY", hash), windowAt(now, 60));
  return before;
};

/**
 * Takes back that a request of a key was counted, which another check has refused. One request more than the limit
 * passes when this write is sent again after a lost reply. One write unit.
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
