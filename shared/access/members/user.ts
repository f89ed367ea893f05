import { absent, allOf, asRead, type Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { domainOf, mailboxOf } from "../../contract/address.ts";
import { Refusal } from "../../contract/errors.ts";
import { drawId } from "../../lists/blocks.ts";
import * as activity from "../activity/activity.ts";
import type { Actor } from "../activity/actor.ts";
import { hashOf } from "../keys/secret.ts";
import type { Member, Role } from "../organizations/organization-schema.ts";
import * as session from "../sessions/session.ts";
import { isAdmin, notJoined, notRemoved } from "./membership.ts";

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
  /**
   * Of the only account at the identity provider that signs in as this user (sign-in/single-sign-on.ts).
   * Stays when the user is removed.
   */
  identityId?: string;
  /** Hashes of the mailboxes of former addresses, and of a removed user's last one. */
  formerMailboxes?: Set<string>;
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

/** What a new user has done, or what was done to them, as the activity log says it. */
const comings = {
  added: (email, noun) => `Added ${email} as ${noun}`,
  invited: (email, noun) => `Invited ${email} as ${noun}`,
  joined: (email, noun) => `${email} joined as ${noun} by single sign-on`,
} as const satisfies Record<string, (email: string, noun: string) => string>;

/**
 * Creates a user. `log` names who is shown in the activity log, and how the user came; without it nothing is
 * logged. `invitation` gives the write of a mail that invites the user. "exists": another user of the
 * organization, who is not removed, has this address.
 */
export const create = async (
  org: number,
  input: { email: string; name: string | null; role?: Role },
  {
    log,
    invitation,
    also = [],
  }: {
    log?: { actor: Actor; coming: keyof typeof comings };
    invitation?: ((user: User) => Write) | undefined;
    also?: readonly Write[];
  } = {},
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
    ...also,
    ...(log && slot
      ? activity.writes(org, slot, {
          action: `member.${log.coming}`,
          summary: comings[log.coming](email, nounOf(role)),
          actor: log.actor,
        })
      : []),
  ];
  const created = await table.attempt(table.transact(writes));
  if (created.written) return user;
  if (created.failed.some(({ index }) => writes[index] === addressClaim)) return "exists";
  throw new table.TransactionRefused(created.failed);
};

const mailboxHashOf = (email: string): string => hashOf(mailboxOf(email));

/** The keys of the rows by which people who sign in find the user. */
export const signInKeys = (org: number, { email, identityId }: Pick<User, "email" | "identityId">): Key[] => [
  keys.signInAddress(email, org),
  ...(identityId === undefined ? [] : [keys.signInIdentity(identityId, org)]),
];

const nounOf = (role: Role): string => (role === "admin" ? "an admin" : "a member");

export const get = (org: number, id: number): Promise<User | undefined> => table.get(keys.user(org, id));

/** Users who are not removed, newest first. */
export const list = async (org: number): Promise<User[]> => {
  const rows = await table.query<User & Key>({ pk: keys.user(org, 0).pk, descending: true });
  return rows.filter((row) => !row.removed).map(({ pk: _, sk: __, ...user }) => user);
};

/**
 * Whether the organization removed a user with this account at the identity provider, or an address of this
 * mailbox.
 */
export const wasRemoved = async (
  org: number,
  { email, identityId }: { email: string; identityId: string },
): Promise<boolean> => {
  const mailbox = mailboxHashOf(email);
  const rows = await table.query<User>({ pk: keys.user(org, 0).pk });
  return rows.some(
    (row) => row.removed && (row.identityId === identityId || row.formerMailboxes?.has(mailbox)),
  );
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
  hasIdentity: user.identityId !== undefined,
});

/** A passkey as it is listed. */
export const shownPasskey = (id: string, { createdAt, lastUsedAt, browser }: Passkey) => ({
  id,
  createdAt,
  lastUsedAt: lastUsedAt ?? null,
  ...(browser !== undefined && { browser }),
});

/** The passkeys of a user as they are listed, newest first. */
export const passkeysOf = ({ passkeys = {} }: User) =>
  Object.entries(passkeys)
    .map(([id, passkey]) => shownPasskey(id, passkey))
    .sort((one, other) => other.createdAt.localeCompare(one.createdAt));

/**
 * Invites a user again, who has never signed in. `invitation` gives its write; without it nothing is sent,
 * and nothing changes. Refuses `memberNotFound` and `memberJoined`.
 */
export const inviteAgain = (
  org: number,
  id: number,
  actor: Actor,
  invitation: ((user: User) => Write) | undefined,
): Promise<User> =>
  withOptimisticRetry(async () => {
    const user = await existing(org, id);
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

/** The user of an organization who is not removed. Refuses `memberNotFound`. */
const existing = async (org: number, id: number): Promise<User> => {
  const user = await get(org, id);
  if (user === undefined || user.removed) throw new Refusal("memberNotFound");
  return user;
};

/**
 * Lets the next account at the identity provider that has the user's address sign in. Nothing is logged if
 * none has signed in before. Refuses `memberNotFound`.
 */
export const forgetIdentity = (org: number, id: number, actor: Actor): Promise<void> =>
  withOptimisticRetry(async () => {
    const { identityId, email } = await existing(org, id);
    if (identityId === undefined) return;
    const slot = await activity.slot(org);
    await table.transact([
      {
        update: keys.user(org, id),
        remove: ["identityId"],
        if: asRead({ removed: false, identityId }),
      },
      { delete: keys.signInIdentity(identityId, org) },
      ...activity.writes(org, slot, {
        action: "member.identity_forgotten",
        summary: `Forgot the account at the identity provider that signs in as ${email}`,
        actor,
      }),
    ]);
  });

/**
 * Gives a user the address that the identity provider says now. It refuses one of another user of the
 * organization, and one of another domain. Mailed links must not go to a mailbox that the person keeps after
 * leaving. Returns the user's address.
 */
export const follow = (org: number, id: number, email: string): Promise<string> =>
  withOptimisticRetry(async () => {
    const [user, holder] = await Promise.all([get(org, id), table.get(keys.signInAddress(email, org))]);
    const { email: former = email, removed = true } = user ?? {};
    if (removed || holder !== undefined || domainOf(former) !== domainOf(email)) return former;
    const slot = await activity.slot(org);
    await table.transact([
      {
        update: keys.user(org, id),
        set: { email },
        add: { formerMailboxes: new Set([mailboxHashOf(former)]) },
        if: asRead({ removed: false, email: former }),
      },
      { delete: keys.signInAddress(former, org) },
      { put: { ...keys.signInAddress(email, org), organizationId: org, userId: id }, if: absent },
      ...activity.writes(org, slot, {
        action: "member.updated",
        summary: `${former} has the address ${email} now, as the identity provider says`,
        actor: { type: "user", id, label: email },
      }),
    ]);
    return email;
  });

type AlsoOfAdmins = (user: User, change: "added" | "removed") => readonly Write[];

/**
 * Changes a user's role or name. A change that changes nothing is not logged. Who is no admin any more has no
 * passkey left, and no session but the one with the id `keptSession`: others may have made them. `ifAdmins`
 * gives further writes for a user who becomes an admin or is none any more. Refuses `memberNotFound` and
 * `lastAdmin`.
 */
export const change = (
  org: number,
  id: number,
  input: { role?: Role | undefined; name?: string | null | undefined },
  actor: Actor,
  { keptSession, ifAdmins }: { keptSession?: number; ifAdmins?: AlsoOfAdmins } = {},
): Promise<void> =>
  withOptimisticRetry(async () => {
    const user = await existing(org, id);
    const { role = user.role, name = user.name } = input;
    if (role === user.role && name === user.name) return;
    const check = role === "admin" ? [] : await anotherAdmin(org, user);
    const isDemoted = role !== user.role && role !== "admin";
    // A session that begins meanwhile is seen by its time of sign-in.
    if (isDemoted) await session.revokeAllOf(org, id, keptSession);
    const slot = await activity.slot(org);
    const summary =
      role === user.role ? `Renamed the member ${user.email}` : `Made ${user.email} ${nounOf(role)}`;
    await table.transact([
      {
        update: keys.user(org, id),
        set: { role, name },
        remove: isDemoted ? ["passkeys"] : [],
        if: asRead({
          removed: false,
          role: user.role,
          name: user.name,
          ...(isDemoted && { lastSignInAt: user.lastSignInAt }),
        }),
      },
      ...check,
      ...(role === user.role ? [] : (ifAdmins?.(user, role === "admin" ? "added" : "removed") ?? [])),
      ...activity.writes(org, slot, { action: "member.updated", summary, actor }),
    ]);
  });

/**
 * Removes a user. The user's sessions end with the same transaction, since the authorizer reads the user's
 * row; their rows are deleted afterwards, and repeating an interrupted call deletes the rest. `log` names who
 * is shown in the activity log; without it nothing is logged. `ifAdmins`: as of `change`. Refuses `lastAdmin`
 * unless `force`.
 */
export const remove = async (
  org: number,
  id: number,
  { log, force = false, ifAdmins }: { log?: Actor; force?: boolean; ifAdmins?: AlsoOfAdmins } = {},
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
        add: { formerMailboxes: new Set([mailboxHashOf(user.email)]) },
        remove: ["passkeys"],
        if: asRead({ removed: false, role: user.role, email: user.email, identityId: user.identityId }),
      },
      ...signInKeys(org, user).map((key) => ({ delete: key })),
      ...check,
      ...(log && slot
        ? activity.writes(org, slot, {
            action: "member.removed",
            summary: `Removed the member ${user.email}`,
            actor: log,
          })
        : []),
      ...(user.role === "admin" ? (ifAdmins?.(user, "removed") ?? []) : []),
    ]);
    return "removed";
  });
  if (result !== "unknown") await session.revokeAllOf(org, id);
  return result;
};
