import { randomInt } from "node:crypto";
import { absent, allOf, asRead, type Change, exists, type Write } from "../../aws/table/condition.ts";
import { type Key, keys, padded, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import type { ApiKey } from "../keys/api-key.ts";
import { hashOf, mintSession } from "../keys/secret.ts";
import { notRemoved } from "../members/membership.ts";
import type { Organization } from "../organizations/organization.ts";

const hour = 60 * 60 * 1000;
/** How many hours a session lasts at most, where operators have set no other number (`admin org sign-in`). */
export const longestHours = 30 * 24;
const longestIdle = 7 * 24 * hour;

/** A session of a user in one organization. */
export type Session = {
  /** Random: it only tells sessions in a list apart. */
  id: number;
  userId: number;
  /** The user's address when the session was created. */
  userLabel: string;
  createdAt: string;
  /** Exact to the hour. */
  lastUsedAt: string;
  /** An operator made it with the command line; absent when the user signed in. */
  byOperator?: true;
  /** Such as "Firefox on Windows": where the user signed in. */
  browser?: string;
  /** Epoch seconds: the earlier end of `longestHours` and the longest idle time. DynamoDB deletes the row later. */
  expiresAt: number;
};

/** `expiresAt` of a session that is used now. */
export const expiry = (createdAt: string, now: Date): number =>
  Math.floor(Math.min(Date.parse(createdAt) + longestHours * hour, now.getTime() + longestIdle) / 1000);

/** `expiresAt` of a session that is ended now; an hour earlier, since the clocks of functions differ. */
const expiredAt = (now: Date): number => Math.floor((now.getTime() - hour) / 1000);

type Terms = Pick<Organization, "sessionHours">;

const termsOf = async (org: number): Promise<Terms> =>
  (await table.get<Organization>(keys.organization(org))) ?? {};

/**
 * When the session ends unless it is used, in milliseconds. The organization's number of hours also holds for
 * sessions from before it was set.
 */
const endOf = ({ createdAt, expiresAt }: Session, { sessionHours = longestHours }: Terms): number =>
  Math.min(expiresAt * 1000, Date.parse(createdAt) + sessionHours * hour);

export const isLive = (session: Session, organization: Terms, now: Date): boolean =>
  endOf(session, organization) > now.getTime();

/**
 * Records that a session or key was used, at most once an hour. It puts off the end of a session's idle time.
 * A session that has just ended stays ended.
 */
export const touch = async (key: Key, row: Session | ApiKey, now: Date): Promise<void> => {
  const { lastUsedAt } = row;
  if (lastUsedAt !== undefined && now.getTime() - Date.parse(lastUsedAt) < hour) return;
  const used = { lastUsedAt: now.toISOString() };
  const change =
    "userId" in row
      ? {
          set: { ...used, [timeToLive]: expiry(row.createdAt, now) },
          if: asRead({ [timeToLive]: row.expiresAt }),
        }
      : { set: used, if: exists };
  await table.attempt(table.update(key, change));
};

/** What a session's cookie names: the key of its row. */
export type SessionName = { organizationId: number; userId: number; hash: string };

/** The write that ends a session, if there is one of this name. */
export const ending = ({ organizationId, userId, hash }: SessionName): Write => ({
  delete: keys.session(organizationId, userId, hash),
});

/** Who made a session. */
export const createdBy = ({ byOperator }: Pick<Session, "byOperator">): "user" | "operator" =>
  byOperator === true ? "operator" : "user";

/** When the session ends unless it is used, ISO 8601. */
export const expiresAt = (session: Session, organization: Terms): string =>
  new Date(endOf(session, organization)).toISOString();

/** What `randomInt` gives at most. */
const maximumId = 2 ** 48 - 1;

type NewSession = { session: Session; value: string; writes: Write[] };

/**
 * Prepares a session. Only the hash of `value`, the cookie's value, is in the writes, so the caller must show
 * `value` now. The writes fail when the organization is deleted or the user is removed. `change`: what else
 * becomes of the user's row.
 */
export const prepare = (
  org: number,
  user: { id: number; email: string },
  {
    byOperator,
    browser,
    change,
  }: {
    byOperator?: true;
    browser?: string | undefined;
    change?: Pick<Change, "set" | "if"> | undefined;
  } = {},
): NewSession => {
  const value = mintSession(org, user.id);
  const now = new Date();
  const createdAt = now.toISOString();
  const session: Session = {
    id: randomInt(1, maximumId),
    userId: user.id,
    userLabel: user.email,
    createdAt,
    lastUsedAt: createdAt,
    ...(byOperator && { byOperator }),
    ...(browser !== undefined && { browser }),
    [timeToLive]: expiry(createdAt, now),
  };
  return {
    session,
    value,
    writes: [
      {
        update: keys.user(org, user.id),
        set: { lastSignInAt: createdAt, ...change?.set },
        setOnce: { joinedAt: createdAt },
        if: allOf(notRemoved, change?.if),
      },
      { put: { ...keys.session(org, user.id, hashOf(value)), ...session }, if: absent },
    ],
  };
};

/**
 * Creates a session of a user, for an operator. Throws `TransactionRefused` when the user does not exist or was
 * removed.
 */
export const create = async (
  org: number,
  user: { id: number; email: string },
): Promise<{ id: number; value: string; expiresAt: string }> => {
  const { session, value, writes } = prepare(org, user, { byOperator: true });
  await table.transact(writes);
  return { id: session.id, value, expiresAt: expiresAt(session, await termsOf(org)) };
};

type Row = Session & Key;

const rowsOf = (org: number, userId?: number): Promise<Row[]> =>
  table.query<Row>({
    pk: keys.session(org, 0, "").pk,
    ...(userId !== undefined && { prefix: `${padded(userId)}#` }),
  });

/** A session whose `expiresAt` is `expiresAt` of it. */
export type ListedSession = Omit<Session, "expiresAt"> & { expiresAt: string };

/** Sessions that have not ended, newest first, without their hashes; of one user if `userId` is given. */
export const list = async (org: number, now: Date, userId?: number): Promise<ListedSession[]> => {
  const [rows, terms] = await Promise.all([rowsOf(org, userId), termsOf(org)]);
  return rows
    .filter((row) => isLive(row, terms, now))
    .map(({ pk: _, sk: __, ...session }) => ({ ...session, expiresAt: expiresAt(session, terms) }))
    .sort((one, other) => other.createdAt.localeCompare(one.createdAt));
};

export const get = (org: number, userId: number, hash: string): Promise<Session | undefined> =>
  table.get(keys.session(org, userId, hash));

/** Ends the session with this hash: the very next request with it is refused. */
export const end = (org: number, userId: number, hash: string): Promise<void> =>
  table.remove(keys.session(org, userId, hash));

/**
 * Ends a session, only of this user if `userId` is given. The row stays as expired until DynamoDB deletes it,
 * so that ending the session again succeeds.
 */
export const revoke = async (org: number, id: number, userId?: number): Promise<"revoked" | "unknown"> => {
  const now = new Date();
  const row = (await rowsOf(org, userId)).find((each) => each.id === id);
  if (row === undefined) return "unknown";
  if (row.expiresAt * 1000 > now.getTime())
    await table.attempt(table.update(row, { set: { [timeToLive]: expiredAt(now) }, if: exists }));
  return "revoked";
};

/** Ends all sessions of a user, but for the one with the id `except`. */
export const revokeAllOf = async (org: number, userId: number, except?: number): Promise<void> => {
  for (const row of await rowsOf(org, userId)) if (row.id !== except) await table.remove(row);
};
