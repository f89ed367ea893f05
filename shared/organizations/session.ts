import { drawId } from "../table/blocks.ts";
import { absent, condition, exists } from "../table/condition.ts";
import { type Key, keys, timeToLive } from "../table/keys.ts";
import * as table from "../table/table.ts";
import { hashOf, mintSession } from "./secret.ts";

const lifetimeSeconds = 30 * 24 * 60 * 60;

export type Session = {
  id: number;
  userId: number;
  /** The user's address, so that the authorizer needs no further read. */
  userLabel: string;
  createdAt: string;
  /** Epoch seconds; also the row's time to live. */
  expiresAt: number;
};

/** Creates a session of a user. `value` is shown this once: only its hash is stored. Refused when the user is not there. */
export const create = async (
  org: number,
  user: { id: number; email: string },
): Promise<{ id: number; value: string; expiresAt: string }> => {
  const id = await drawId("SESSION");
  const value = mintSession(org);
  const now = new Date();
  const expiresAt = Math.floor(now.getTime() / 1000) + lifetimeSeconds;
  const session: Session = {
    id,
    userId: user.id,
    userLabel: user.email,
    createdAt: now.toISOString(),
    [timeToLive]: expiresAt,
  };
  await table.transact([
    { check: keys.organization(org), if: exists },
    { check: keys.user(org, user.id), if: condition("#removed = :no", { no: false }) },
    { put: { ...keys.session(org, hashOf(value)), ...session }, if: absent },
  ]);
  return { id, value, expiresAt: new Date(expiresAt * 1000).toISOString() };
};

const rowsOf = (org: number): Promise<(Session & Key)[]> =>
  table.query<Session & Key>({ pk: keys.session(org, "").pk });

/** Sessions that have not expired, newest first, without what they are known by. */
export const list = async (org: number, now: Date): Promise<Session[]> =>
  (await rowsOf(org))
    .filter(({ expiresAt }) => expiresAt * 1000 > now.getTime())
    .map(({ pk: _, sk: __, ...session }) => session)
    .sort((a, b) => b.id - a.id);

export const revoke = async (org: number, id: number): Promise<"revoked" | "unknown"> => {
  const row = (await rowsOf(org)).find((each) => each.id === id);
  if (row === undefined) return "unknown";
  await table.remove(row);
  return "revoked";
};

export const revokeAllOf = async (org: number, userId: number): Promise<void> => {
  for (const row of await rowsOf(org)) if (row.userId === userId) await table.remove(row);
};
