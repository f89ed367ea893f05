/**
 * Sign-in links. A link's token is shown once and stored as a hash; it is bound to an address and redeemed once.
 */

import { absent, type Change, type Condition, condition, type Write } from "../../aws/table/condition.ts";
import { type Key, keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import * as activity from "../activity/activity.ts";
import { hashOf, mintLinkToken } from "../keys/secret.ts";
import { notJoined } from "../members/membership.ts";
import type { User } from "../members/user.ts";
import * as users from "../members/user.ts";
import type { Organization } from "../organizations/organization.ts";
import type { Visit } from "../sessions/browser.ts";
import * as sessions from "../sessions/session.ts";

/** How long links work, in seconds. */
export const lifetimes = { link: 15 * 60, invitation: 7 * 24 * 60 * 60 } as const;

/**
 * Who may redeem a link: whoever is a user with the address. The operator's links and invitations also name
 * the organization and the user, so that nobody has to choose. `identityId`: of the bearer's account at the
 * identity provider, by which users are found first.
 */
export type Bearer = { email: string; identityId?: string; organizationId?: number; userId?: number };

/**
 * Who vouches for the person with the link, besides their mailbox: the operator who made it, or the identity
 * provider. Absent: nobody.
 */
type Voucher = "operator" | "provider";

/** `isInvitation`: the link ends with the user's first sign-in, by whatever way. */
type NewLink = Bearer & { by?: Voucher; isInvitation?: true };

/** How people sign in, as the activity log tells it. */
const ways = {
  mail: "a mailed link",
  invitation: "an invitation",
  operator: "a link that an operator made",
  passkey: "a passkey",
  provider: "single sign-on",
} as const;
type Way = keyof typeof ways;

type Link = NewLink & { createdAt: string; expiresAt: number };

/** The address of the page that redeems a link. The fragment is in no log of a server and in no Referer. */
export const urlOf = (dashboardUrl: string, token: string): string => `${dashboardUrl}/sign-in#${token}`;

/** Creates a link. Only the hash of `token` is stored, so the caller must show `token` now. */
export const create = async (
  given: NewLink,
  lifetimeSeconds: number,
): Promise<{ token: string; expiresAt: string }> => {
  const token = mintLinkToken();
  const now = new Date();
  const expiresAt = Math.floor(now.getTime() / 1000) + lifetimeSeconds;
  const link: Link = { ...given, createdAt: now.toISOString(), [timeToLive]: expiresAt };
  await table.transact([{ put: { ...keys.signInLink(hashOf(token)), ...link }, if: absent }]);
  return { token, expiresAt: new Date(expiresAt * 1000).toISOString() };
};

export type Membership = { user: User; organization: Organization };

type UserName = { organizationId: number; userId: number };

/** The users as whom a bearer can sign in, at most one of an organization. */
export const membershipsOf = async (bearer: Bearer): Promise<Membership[]> => {
  const { organizationId, userId } = bearer;
  const isNamed = organizationId !== undefined && userId !== undefined;
  const named = isNamed ? [{ organizationId, userId }] : await namesOf(bearer);
  return (await membershipsNamed(named)).filter(({ user }) => isUser(bearer, user));
};

/** Of an organization that knows the account, the user with the address is somebody else. */
const namesOf = async ({ email, identityId }: Bearer): Promise<UserName[]> => {
  const namesAt = ({ pk }: Key) => table.query<UserName>({ pk });
  const [byAddress, byIdentity] = await Promise.all([
    namesAt(keys.signInAddress(email, 0)),
    identityId === undefined ? [] : namesAt(keys.signInIdentity(identityId, 0)),
  ]);
  const names = [...byAddress, ...byIdentity].map((name) => [name.organizationId, name] as const);
  return [...new Map(names).values()];
};

/** The provider's account identifies a user who has signed in by it, whatever its address is now. */
const isUser = ({ email, identityId }: Bearer, user: User): boolean =>
  identityId === undefined || user.identityId === undefined
    ? user.email === email
    : user.identityId === identityId;

/** The users with these ids, without those who were removed, and those of organizations that are being deleted. */
export const membershipsNamed = async (named: readonly UserName[]): Promise<Membership[]> => {
  const orgs = named.map((each) => each.organizationId);
  const rows = await table.getMany([
    ...named.map((each) => keys.user(each.organizationId, each.userId)),
    ...orgs.map(keys.organization),
  ]);
  const users = rows.slice(0, named.length) as (User | undefined)[];
  const organizations = rows.slice(named.length) as (Organization | undefined)[];
  return users.flatMap((user, index) => {
    const organization = organizations[index];
    if (user === undefined || user.removed) return [];
    return organization === undefined || organization.deleting === true ? [] : [{ user, organization }];
  });
};

/** Whether people sign in to the organization only by the identity provider, or by a link that the operator made. */
export const needsVoucher = ({ organization }: Membership): boolean => organization.signIn === "provider";

/** The condition that a row's time to live is not over: the table deletes rows some time after it. */
export const unexpired = (now = Math.floor(Date.now() / 1000)): Condition =>
  condition("#expiresAt > :now", { now });

/** `cookie`: the value of the session's. */
export type SignedIn = Membership & { cookie: string };

/** What the page is told of who has signed in. */
export const shown = ({ user, organization: { id, name } }: Membership) => ({
  user: { id: user.id, email: user.email, name: user.name, role: user.role },
  organization: { id, name },
});

/** A link that is good, and as whom its bearer can sign in. Refuses `invalidLink`, whatever is wrong. */
const find = async (token: string) => {
  const key = keys.signInLink(hashOf(token));
  const link = await table.get<Link>(key);
  if (link === undefined || link.expiresAt <= Math.floor(Date.now() / 1000)) throw new Refusal("invalidLink");
  const all = await membershipsOf(link);
  const memberships = link.by === undefined ? all.filter((each) => !needsVoucher(each)) : all;
  if (memberships.length === 0) throw new Refusal("invalidLink");
  return { key, link, memberships };
};

/** Whom a token signs in, and to which organizations. The link stays good. Refuses `invalidLink`. */
export const lookUp = async (
  token: string,
): Promise<{ email: string; organizations: { id: number; name: string }[] }> => {
  const { link, memberships } = await find(token);
  const organizations = memberships.map(({ organization: { id, name } }) => ({ id, name }));
  return { email: link.email, organizations };
};

/**
 * Redeems a token for a session in the organization; `cookie` is the value of its cookie. Refuses `invalidLink`,
 * in the same words whatever is wrong, and `chooseOrganization`, after which the token is still good. Of several
 * that redeem one token at the same time one succeeds: the session is created in the transaction that deletes
 * the link.
 */
export const redeem = async (
  token: string,
  organizationId?: number,
  visit: Visit = {},
): Promise<SignedIn> => {
  const { key, link, memberships } = await find(token);
  const membership = choose(memberships, organizationId);
  const used: Write = { delete: key, if: unexpired() };
  const { identityId, isInvitation } = link;
  const signedIn = await (identityId === undefined
    ? enter(membership, [used], {
        ...visit,
        way: link.by ?? (isInvitation ? "invitation" : "mail"),
        change: isInvitation ? { if: notJoined } : {},
      })
    : enterAs({ ...link, identityId }, membership, [used], visit));
  // Somebody else was faster, the user has just been removed, or another invitation was redeemed.
  if (signedIn === undefined) throw new Refusal("invalidLink");
  return signedIn;
};

/**
 * Creates a session of the membership in a browser, and ends the session `replaced`. One transaction holds
 * it, its entry in the activity log, `also` and the `change` of the user's row. Undefined: refused, as when the
 * user has just been removed.
 */
export const enter = async (
  membership: Membership,
  also: readonly Write[],
  { replaced, network, way, ...session }: Visit & { way: Way; change?: Pick<Change, "set" | "if"> },
): Promise<SignedIn | undefined> => {
  const { organization, user } = membership;
  const slot = await activity.slot(organization.id);
  const { value, writes } = sessions.prepare(organization.id, user, session);
  const { written } = await table.attempt(
    table.transact([
      ...also,
      ...writes,
      ...(replaced === undefined ? [] : [sessions.ending(replaced)]),
      ...activity.writes(organization.id, slot, {
        action: "member.signed_in",
        summary: `Signed in by ${ways[way]} from ${network ?? "an unknown network"}`,
        actor: { type: "user", id: user.id, label: user.email },
      }),
    ]),
  );
  return written ? { ...membership, cookie: value } : undefined;
};

/**
 * As `enter`, for an account at the identity provider: from then on no other signs in as this user. If the
 * account's address has changed, the user's does too. Undefined also if another account was faster.
 */
export const enterAs = async (
  { email, identityId }: { email: string; identityId: string },
  membership: Membership,
  also: readonly Write[],
  visit: Visit,
): Promise<SignedIn | undefined> => {
  const { id: organizationId } = membership.organization;
  const { id: userId } = membership.user;
  const account: Write = {
    put: { ...keys.signInIdentity(identityId, organizationId), organizationId, userId },
    if: condition("attribute_not_exists(#pk) OR #userId = :userId", { userId }),
  };
  const change = {
    set: { identityId },
    if: condition("attribute_not_exists(#identityId) OR #identityId = :identityId", { identityId }),
  };
  const signedIn = await enter(membership, [...also, account], { ...visit, way: "provider", change });
  if (signedIn === undefined || signedIn.user.email === email) return signedIn;
  return {
    ...signedIn,
    user: { ...signedIn.user, email: await users.follow(organizationId, userId, email) },
  };
};

/** Of several organizations one has to be chosen; `details` go into the refusal. */
export const chooseOrganization = (
  memberships: readonly Membership[],
  details: Record<string, unknown> = {},
): Refusal =>
  new Refusal("chooseOrganization", {
    details: {
      organizations: memberships.map(({ organization: { id, name } }) => ({ id, name })),
      ...details,
    },
  });

const choose = (memberships: readonly Membership[], organizationId: number | undefined): Membership => {
  const [first, ...rest] =
    organizationId === undefined
      ? memberships
      : memberships.filter(({ organization }) => organization.id === organizationId);
  if (first === undefined) throw new Refusal("invalidLink");
  if (rest.length === 0) return first;
  throw chooseOrganization(memberships);
};
