/**
 * Rows of sessions and API keys, how long sessions live, and when each was last used. In a file of their own, because the authorizer
 * needs nothing else of them.
 */
import { asRead, exists } from "../../aws/table/condition.ts";
import { type Key, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";

const hour = 60 * 60 * 1000;
const longestLife = 30 * 24 * hour;
const longestIdle = 7 * 24 * hour;

export type ApiKey = {
  id: number;
  label: string;
  createdAt: string;
  revokedAt: string | null;
  /** How the key begins. */
  preview: string;
  /** The user who created it; absent when the command line did. */
  createdBy?: { id: number; label: string };
  /** Exact to the hour; absent before the first use. */
  lastUsedAt?: string;
};

/** A session of a user in one organization. */
export type Session = {
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
  /** Epoch seconds: the earlier end of the longest life and the longest idle time. DynamoDB deletes the row later. */
  expiresAt: number;
};

/** `expiresAt` of a session that is used now. */
export const expiry = (createdAt: string, now: Date): number =>
  Math.floor(Math.min(Date.parse(createdAt) + longestLife, now.getTime() + longestIdle) / 1000);

/** `expiresAt` of a session that is ended now; an hour earlier, since the clocks of functions differ. */
export const expiredAt = (now: Date): number => Math.floor((now.getTime() - hour) / 1000);

export const isLive = (session: Session, now: Date): boolean => session.expiresAt * 1000 > now.getTime();

/**
 * Notes that a session or key was used, at most once an hour, which puts off the end of a session's idle time.
 * What has just ended stays ended.
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
