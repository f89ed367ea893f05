import { setTimeout } from "node:timers/promises";
import { allOf, type Condition, condition } from "../../aws/table/condition.ts";
import { keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal, type RefusalName } from "../../contract/errors.ts";
import {
  type OrganizationLimit,
  organizationLimits,
  perDay,
  perMinute,
  perMinuteOfDirectories,
  perMinuteOfEndpoint,
  signInLinksPerHour,
} from "../../contract/limits.ts";

/** A UTC minute, hour or day. `name` is its start and `endsAt` its end, both in epoch seconds. */
type Window = { name: string; endsAt: number };

const windowAt = (now: Date, seconds: 60 | 3600 | 86_400): Window => {
  const start = Math.floor(now.getTime() / 1000 / seconds) * seconds;
  return { name: String(start), endsAt: start + seconds };
};

/**
 * Counts one request in attributes of the current window's row, unless one is at its limit. The write is
 * atomic, so that exactly `limit` concurrent requests pass. Costs one write unit.
 */
const count = async <Name extends string>(
  subject: string,
  limits: Record<Name, number>,
  seconds: 60 | 3600 | 86_400,
  now: Date,
): Promise<Record<Name, Counted>> => {
  const window = windowAt(now, seconds);
  const names = Object.keys(limits) as Name[];
  const isFree = (name: Name, index: number): Condition => ({
    ...condition(`attribute_not_exists(#a${index}) OR #a${index} < :limit${index}`, {
      [`limit${index}`]: limits[name],
    }),
    names: { [`a${index}`]: name },
  });
  const counting = table.update(keys.limit(subject, window.name), {
    add: Object.fromEntries(names.map((name) => [name, 1])),
    setOnce: { [timeToLive]: window.endsAt + seconds },
    if: allOf(...names.map(isFree)),
  });
  const counted = await table.attempt(counting);
  const row = counted.written ? counted.value : counted.failed[0]?.item;
  const windowSeconds = secondsLeft(window, now);
  const countedOf = (name: Name): Counted => {
    const remaining = Math.max(0, limits[name] - Number(row?.[name] ?? 0));
    const isRefused = !counted.written && remaining === 0;
    return { limit: limits[name], remaining, windowSeconds, refusedSeconds: isRefused ? windowSeconds : 0 };
  };
  return Object.fromEntries(names.map((name) => [name, countedOf(name)])) as Record<Name, Counted>;
};

/** A request that was counted. `remaining`: how many more pass in the window. */
export type Counted = {
  limit: number;
  remaining: number;
  /** Until the window ends, at least 1. */
  windowSeconds: number;
  /** 0 if the request passes, else `windowSeconds`. */
  refusedSeconds: number;
};

const secondsLeft = ({ endsAt }: Window, now: Date): number =>
  Math.max(1, Math.ceil(endsAt - now.getTime() / 1000));

/**
 * What requests of a minute are counted by: a source address in /api/v1 or in the dashboard's part, the hash of
 * a key, or a directory. Wrong tokens of directories are counted by source address.
 */
type Counter = "ADDRESS" | "DASHBOARD" | "KEY" | "DIRECTORY" | "WRONG-TOKEN";

const subjectOf = (counter: Counter, name: string): string => `${counter}#${name}`;

const limits: Record<Counter, number> = {
  ADDRESS: perMinute.address,
  DASHBOARD: perMinute.address,
  KEY: perMinute.key,
  DIRECTORY: perMinuteOfDirectories.directory,
  "WRONG-TOKEN": perMinuteOfDirectories.wrongTokens,
};

/** Counts a request of a source address or a directory, or of the key with this hash. */
export const countMinute = async (counter: Counter, name: string, now: Date): Promise<Counted> => {
  const subject = subjectOf(counter, name);
  const { requests } = await count(subject, { requests: limits[counter] }, 60, now);
  if (requests.refusedSeconds > 0 && counter !== "KEY") rememberRefused(subject, windowAt(now, 60));
  return requests;
};

/**
 * A user as a session names them, and the endpoint that they ask: its method and its path as API Gateway declares it.
 */
export type UserRequest = { organizationId: number; userId: number; method: string; resource: string };

const subjectsOf = ({ organizationId, userId, method, resource }: UserRequest) => {
  const all = `USER#${organizationId}#${userId}`;
  const endpoint = `${method} ${resource}`;
  return { all, endpoint, ofEndpoint: `${all}#${endpoint}` };
};

/** Counts a request of a user, whichever session it comes with: among all, and among those to its endpoint. */
export const countUser = async (
  request: UserRequest,
  part: keyof typeof perMinuteOfEndpoint,
  now: Date,
): Promise<{ user: Counted; endpoint: Counted }> => {
  const { all, endpoint, ofEndpoint } = subjectsOf(request);
  const most = { requests: perMinute.user, [endpoint]: perMinuteOfEndpoint[part] };
  const counted = await count(all, most, 60, now);
  const [user, ofOne] = [counted.requests, counted[endpoint]] as [Counted, Counted];
  if (user.refusedSeconds > 0) rememberRefused(all, windowAt(now, 60));
  if (ofOne.refusedSeconds > 0) rememberRefused(ofEndpoint, windowAt(now, 60));
  return { user, endpoint: ofOne };
};

/** As `secondsRefused`, of a user's request. */
export const secondsUserRefused = (request: UserRequest, now: Date): number => {
  const { all, ofEndpoint } = subjectsOf(request);
  return Math.max(secondsRefusedOf(all, now), secondsRefusedOf(ofEndpoint, now));
};

/**
 * Subjects over their limit, of the latest window that this instance saw. Counts never fall within a window,
 * but for those of keys (`uncountKey`).
 */
let refused = { window: "", subjects: new Set<string>() };
const maximumRefused = 5_000;

const rememberRefused = (subject: string, { name }: Window): void => {
  if (refused.window !== name) refused = { window: name, subjects: new Set() };
  if (refused.subjects.size < maximumRefused) refused.subjects.add(subject);
};

const secondsRefusedOf = (subject: string, now: Date): number => {
  const window = windowAt(now, 60);
  return refused.window === window.name && refused.subjects.has(subject) ? secondsLeft(window, now) : 0;
};

/**
 * The seconds until the window ends if this instance knows the subject to be over its limit, otherwise 0.
 * Does not access the table, so that a flood of refused requests writes nothing.
 */
export const secondsRefused = (counter: Counter, name: string, now: Date): number =>
  secondsRefusedOf(subjectOf(counter, name), now);

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

const countHour = async (subject: string, limit: number, now: Date): Promise<Counted> =>
  (await count(subject, { requests: limit }, 3600, now)).requests;

/** Counts a request against an hourly budget of the organization. */
export const countOrganization = (org: number, limit: OrganizationLimit, now: Date): Promise<Counted> =>
  countHour(`ORG#${org}#${limit}`, organizationLimits[limit], now);

/**
 * Counts a sign-in link that is asked for with an e-mail address, whether or not somebody has it.
 */
export const countSignInLink = (email: string, now: Date): Promise<Counted> =>
  countHour(`SIGN-IN#${email}`, signInLinksPerHour, now);

/** Counts a passkey that a user adds. Refuses `passkeysOfDay`. */
export const countPasskey = (org: number, userId: number): Promise<void> =>
  countDay(`PASSKEYS#${org}#${userId}`, perDay.passkeys, "passkeysOfDay");

/** Counts an alert channel that is added or sent elsewhere. Refuses `channelsOfDay`. */
export const countChannel = (org: number): Promise<void> =>
  countDay(`CHANNELS#${org}`, perDay.channels, "channelsOfDay");

/**
 * Counts a change that makes a channel tell less; `last`: of the last that had alerts of new breaches. False:
 * so many were told of today that this one is done without a notice.
 */
export const countQuieted = async (org: number, which: "last" | "other"): Promise<boolean> => {
  const { requests } = await countToday(`CHANNELS-QUIETED#${org}#${which}`, perDay.channels);
  return requests.refusedSeconds === 0;
};

const countToday = (subject: string, most: number) => count(subject, { requests: most }, 86_400, new Date());

const countDay = async (subject: string, most: number, refusal: RefusalName): Promise<void> => {
  const { requests } = await countToday(subject, most);
  const { refusedSeconds } = requests;
  if (refusedSeconds > 0) throw new Refusal(refusal, { headers: { "Retry-After": String(refusedSeconds) } });
};
