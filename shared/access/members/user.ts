import { absent, allOf, asRead, condition, type Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { drawId } from "../../lists/blocks.ts";
import * as activity from "../activity/activity.ts";
import type { Actor } from "../activity/actor.ts";
import type { Member, Role } from "../organizations/organization-schema.ts";
import * as session from "../sessions/session.ts";
import { notJoined, notRemoved } from "./membership.ts";

/** The row of a removed user stays, so that the activity log still tells a removed user from a stranger. */
export type User = {
  id: number;
  email: string;
  name: string | null;
  role: Role;
  createdAt: string;
  /** When an invitation was last sent. */
  invitedAt?: string;
  /** The first sign-in. */
  joinedAt?: string;
  lastSignInAt?: string;
  removed: boolean;
  /** By the id that the authenticator has given each, in base64url. */
  passkeys?: Record<string, Passkey>;
};

export type Passkey = {
  /** COSE_Key (RFC 9052, 7), in base64url. */
  publicKey: string;
  /** How often the authenticator says that it has signed; synchronized passkeys always say 0. */
  counter: number;
  createdAt: string;
  lastUsedAt?: string;
  /** Such as "Firefox on Windows": where it was added. */
  browser?: string;
};

/**
 * Creates a user. `log` names who is shown in the activity log; without it nothing is logged. `invitation` gives the write of a mail that
 * invites the user. `joins`: nobody has invited the user. "exists": another user of the organization, who is not removed, has this address.
 */
export const create = async (
  org: number,
  input: { email: string; name: string | null; role?: Role },
  {
    log,
    invitation,
    joins = false,
  }: { log?: Actor; invitation?: ((user: User) => Write) | undefined; joins?: boolean } = {},
): Promise<User | "exists"> => {
  if ((await table.get(keys.signInAddress(input.email, org))) !== undefined) return "exists";
  const [id, slot] = await Promise.all([drawId("USER"), log && activity.slot(org)]);
  const { email, name, role = "admin" } = input;
  const createdAt = new Date().toISOString();
  const invitedAt = invitation && { invitedAt: createdAt };
  const user: User = { id, email, name, role, createdAt, ...invitedAt, removed: false };
  const addressClaim: Write = {
    put: { ...keys.signInAddress(email, org), organizationId: org, userId: id },
    if: absent,
  };
  const writes: Write[] = [
    addressClaim,
    { put: { ...keys.user(org, id), ...user }, if: absent },
    ...(invitation ? [invitation(user)] : []),
    ...(log && slot
      ? activity.writes(org, slot, {
          ...(joins
            ? { action: "member.joined", summary: `${email} joined as ${nounOf(role)} by single sign-on` }
            : { action: "member.invited", summary: `Invited ${email} as ${nounOf(role)}` }),
          actor: log,
        })
      : []),
  ];
  const created = await table.attempt(table.transact(writes));
  if (created.written) return user;
  if (created.failed.some(({ index }) => writes[index] === addressClaim)) return "exists";
  throw new table.TransactionRefused(created.failed);
};

const nounOf = (role: Role): string => (role === "admin" ? "an admin" : "a member");

export const get = (org: number, id: number): Promise<User | undefined> => table.get(keys.user(org, id));

/** Users who are not removed, newest first. */
export const list = async (org: number): Promise<User[]> => {
  const rows = await table.query<User & Key>({ pk: keys.user(org, 0).pk, descending: true });
  return rows.filter((row) => !row.removed).map(({ pk: _, sk: __, ...user }) => user);
};

/** Whether a user with this address was removed from the organization. */
export const wasRemoved = async (org: number, email: string): Promise<boolean> => {
  const rows = await table.query<User>({ pk: keys.user(org, 0).pk });
  return rows.some((row) => row.removed && row.email === email);
};

/** A user as members are listed. */
export const shown = (user: User): Member => ({
  id: user.id,
  email: user.email,
  name: user.name,
  role: user.role,
  createdAt: user.createdAt,
  invitedAt: user.invitedAt ?? null,
  joinedAt: user.joinedAt ?? null,
  lastSignInAt: user.lastSignInAt ?? null,
});

/** The passkeys of a user as they are listed, newest first. */
export const passkeysOf = ({ passkeys = {} }: User) =>
  Object.entries(passkeys)
    .map(([id, { createdAt, lastUsedAt = null, browser }]) => ({
      id,
      createdAt,
      lastUsedAt,
      ...(browser !== undefined && { browser }),
    }))
    .sort((one, other) => other.createdAt.localeCompare(one.createdAt));

/**
 * Invites a user again, who has never signed in. `invitation` gives its write; without it nothing is sent, and nothing changes. Refuses
 * `memberNotFound` and `memberJoined`.
 */
export const inviteAgain = (
  org: number,
  id: number,
  actor: Actor,
  invitation: ((user: User) => Write) | undefined,
): Promise<User> =>
  withOptimisticRetry(async () => {
    const user = await get(org, id);
    if (user === undefined || user.removed) throw new Refusal("memberNotFound");
    if (user.joinedAt !== undefined) throw new Refusal("memberJoined");
    if (invitation === undefined) return user;
    const slot = await activity.slot(org);
    const invitedAt = slot.createdAt;
    await table.transact([
      {
        update: keys.user(org, id),
        set: { invitedAt },
        if: allOf(notRemoved, notJoined),
      },
      invitation(user),
      ...activity.writes(org, slot, {
        action: "member.invited",
        summary: `Invited ${user.email} again`,
        actor,
      }),
    ]);
    return { ...user, invitedAt };
  });

const isAdmin = condition("#removed = :no AND #role = :admin", { no: false, admin: "admin" });

/**
 * The check that somebody else is an admin, for the transaction after which `user` is none. It names one other
 * admin, so that of two admins who remove each other at the same time one stays. Refuses `lastAdmin`.
 */
const anotherAdmin = async (org: number, user: User): Promise<Write[]> => {
  if (user.role !== "admin") return [];
  const other = (await list(org)).find((each) => each.id !== user.id && each.role === "admin");
  if (other === undefined) throw new Refusal("lastAdmin");
  return [{ check: keys.user(org, other.id), if: isAdmin }];
};

/**
 * Changes a user's role or name. A change that changes nothing is not logged. Refuses `memberNotFound` and
 * `lastAdmin`.
 */
export const change = (
  org: number,
  id: number,
  input: { role?: Role | undefined; name?: string | null | undefined },
  actor: Actor,
): Promise<void> =>
  withOptimisticRetry(async () => {
    const user = await get(org, id);
    if (user === undefined || user.removed) throw new Refusal("memberNotFound");
    const { role = user.role, name = user.name } = input;
    if (role === user.role && name === user.name) return;
    const check = role === "admin" ? [] : await anotherAdmin(org, user);
    const slot = await activity.slot(org);
    const summary =
      role === user.role ? `Renamed the member ${user.email}` : `Made ${user.email} ${nounOf(role)}`;
    await table.transact([
      {
        update: keys.user(org, id),
        set: { role, name },
        if: asRead({ removed: false, role: user.role, name: user.name }),
      },
      ...check,
      ...activity.writes(org, slot, { action: "member.updated", summary, actor }),
    ]);
  });

/**
 * Removes a user. The user's sessions end with the same transaction, since the authorizer reads the user's row;
 * their rows are deleted afterwards, and repeating an interrupted call deletes the rest. `log` names who is
 * shown in the activity log; without it nothing is logged. Refuses `lastAdmin` unless `force`.
 */
export const remove = async (
  org: number,
  id: number,
  { log, force = false }: { log?: Actor; force?: boolean } = {},
): Promise<"removed" | "already" | "unknown"> => {
  const result = await withOptimisticRetry(async () => {
    const user = await get(org, id);
    if (user === undefined) return "unknown";
    if (user.removed) return "already";
    const check = force ? [] : await anotherAdmin(org, user);
    const slot = log && (await activity.slot(org));
    await table.transact([
      {
        update: keys.user(org, id),
        set: { removed: true },
        remove: ["passkeys"],
        if: asRead({ removed: false, role: user.role }),
      },
      { delete: keys.signInAddress(user.email, org) },
      ...check,
      ...(log && slot
        ? activity.writes(org, slot, {
            action: "member.removed",
            summary: `Removed the member ${user.email}`,
            actor: log,
          })
        : []),
    ]);
    return "removed";
  });
  if (result !== "unknown") await session.revokeAllOf(org, id);
  return result;
};
