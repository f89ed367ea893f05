/** Signing in whom the identity provider vouches for. */
import { Refusal } from "../../contract/errors.ts";
import { service } from "../activity/actor.ts";
import { hashOf } from "../keys/secret.ts";
import * as users from "../members/user.ts";
import * as organizations from "../organizations/organization.ts";
import type { Visit } from "../sessions/browser.ts";
import * as links from "./link.ts";

/** An account at the identity provider. `email` is normalized as those of users are. */
type Identity = { identityId: string; email: string; name: string | null };

/**
 * The stored identity of an account. Its issuer and subject name it for good, whatever its address becomes
 * (OpenID Connect Core 1.0, 5.7). It is a hash, since providers may put text of any length there.
 */
export const identityIdOf = (issuer: string, subject: string): string =>
  hashOf(JSON.stringify([issuer, subject]));

/**
 * Signs in the user whose account this is, or with whose address no account has signed in yet. A user of
 * several organizations chooses: the refusal `chooseOrganization` has a token of a link. Somebody who is a
 * user of none becomes a member of the only organization that `findHomes` gives. Refuses `userUnknown` and
 * `identityChanged`.
 */
export const signIn = async (
  identity: Identity,
  findHomes: () => Promise<number[]> | number[],
  visit: Visit,
): Promise<links.SignedIn> => {
  const { email, identityId } = identity;
  const known = await links.membershipsOf({ email, identityId });
  const memberships = known.length > 0 ? known : await join(identity, await findHomes());
  const [only, ...rest] = memberships;
  if (only === undefined) throw await refusalOf(email);
  if (rest.length > 0) {
    const { token } = await links.create({ email, identityId, by: "provider" }, links.lifetimes.link);
    throw links.chooseOrganization(memberships, { token });
  }
  const signedIn = await links.enterAs(identity, only, [], visit);
  // Just removed, or another account was faster.
  if (signedIn === undefined) throw await refusalOf(email);
  return signedIn;
};

/** Whether it is nobody's address, or a user's as whom another account signs in. */
const refusalOf = async (email: string): Promise<Refusal> =>
  new Refusal((await links.membershipsOf({ email })).length > 0 ? "identityChanged" : "userUnknown");

/** Makes the person a member. Who was removed stays out until somebody invites them. */
const join = async (
  { email, identityId, name }: Identity,
  [org, ...rest]: readonly number[],
): Promise<readonly links.Membership[]> => {
  if (org === undefined || rest.length > 0) return [];
  const [organization, wasRemoved] = await Promise.all([
    organizations.get(org),
    users.wasRemoved(org, { email, identityId }),
  ]);
  if (organization === undefined || organization.deleting === true || wasRemoved) return [];
  // "exists": another tab was faster.
  await users.create(org, { email, name, role: "member" }, { log: { actor: service, coming: "joined" } });
  return links.membershipsOf({ email, identityId });
};
