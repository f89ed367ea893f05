/** Signing in whom the identity provider vouches for. */
import { Refusal } from "../../contract/errors.ts";
import { service } from "../activity/actor.ts";
import * as users from "../members/user.ts";
import * as organizations from "../organizations/organization.ts";
import type { Visit } from "../sessions/browser.ts";
import * as links from "./link.ts";

/** `email` is normalized as those of users are. */
export type Identity = { email: string; name: string | null };

/**
 * Signs in the user with the identity's address. A user of several organizations chooses: the refusal `chooseOrganization` has a token of
 * a link. Somebody who is a user of none becomes a member of the only organization that `findHomes` gives. Refuses `userUnknown`.
 */
export const signIn = async (
  identity: Identity,
  findHomes: () => Promise<number[]> | number[],
  visit: Visit,
): Promise<links.SignedIn> => {
  const { email } = identity;
  const found = await links.membershipsOf({ email });
  const memberships = found.length > 0 ? found : await join(identity, await findHomes());
  const [only, ...others] = memberships;
  if (only === undefined) throw new Refusal("userUnknown");
  if (others.length > 0) {
    const { token } = await links.create({ email, by: "provider" }, links.lifetimes.link);
    throw links.chooseOrganization(memberships, { token });
  }
  const signedIn = await links.enter(only, [], visit);
  // Just removed.
  if (signedIn === undefined) throw new Refusal("userUnknown");
  return signedIn;
};

/** Makes the person a member. Who was removed stays out until somebody invites them. */
const join = async (
  { email, name }: Identity,
  [org, ...others]: readonly number[],
): Promise<readonly links.Membership[]> => {
  if (org === undefined || others.length > 0) return [];
  const [organization, wasRemoved] = await Promise.all([
    organizations.get(org),
    users.wasRemoved(org, email),
  ]);
  if (organization === undefined || organization.deleting === true || wasRemoved) return [];
  // "exists": another tab was faster.
  await users.create(org, { email, name, role: "member" }, { log: service, joins: true });
  return links.membershipsOf({ email });
};
