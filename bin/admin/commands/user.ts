import { administrator } from "../../../shared/access/activity/actor.ts";
import * as apiKeys from "../../../shared/access/keys/api-key.ts";
import * as users from "../../../shared/access/members/user.ts";
import { newNoticesToAdmins } from "../../../shared/access/notices/notice.ts";
import { personName, role } from "../../../shared/access/organizations/organization-schema.ts";
import * as links from "../../../shared/access/sign-in/link.ts";
import { emailAddress } from "../../../shared/monitoring/emails/email-schema.ts";
import type { Commands } from "../command.ts";
import { CommandError } from "../error.ts";
import { findOrganization, findUser, notFound, oneOf, parse, parseId } from "../flags.ts";
import { pick } from "../print.ts";

export const userCommands: Commands = {
  "user create": {
    about: "Creates a user of the dashboard.",
    flags: {
      org: "required ID",
      email: "required ADDRESS",
      name: "optional NAME",
      role: `required ${oneOf(role)}`,
    },
    isAct: true,
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      const email = parse("email", emailAddress, flags.email);
      const input = {
        email,
        name: flags.name === undefined ? null : parse("name", personName, flags.name),
        role: parse("role", role, flags.role),
      };
      const notices = await newNoticesToAdmins(org);
      const also =
        input.role === "admin"
          ? notices.writes({ about: "admin", change: "added", email, by: administrator.label })
          : [];
      const user = await users.create(org, input, { log: { actor: administrator, coming: "added" }, also });
      if (user === "exists") {
        throw new CommandError(
          `The organization already has a user ${email}: "user list --org ${org}" shows it.`,
        );
      }
      return shown(user);
    },
  },
  "user list": {
    about: "Lists the users who are not removed, newest first.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      return { users: (await users.list(org)).map(shown) };
    },
  },
  "user sign-in-link": {
    about: "Makes a link with which a user can sign in to the dashboard, once and within 15 minutes.",
    flags: { org: "required ID", user: "required ID" },
    isAct: true,
    run: async (flags, stack) => {
      const {
        org,
        user: { id, email },
      } = await findUser(flags);
      const { token, expiresAt } = await links.create(
        { email, organizationId: org, userId: id, by: "operator" },
        links.lifetimes.link,
      );
      return { id, email, expiresAt, url: links.urlOf(stack.outputs.DashboardUrl ?? "", token) };
    },
  },
  "user forget-identity": {
    about:
      "Lets the next account at the identity provider that has a user's address sign in as the " +
      "user. Without --user it is about all users of the organization, for another provider, or " +
      "another client at Entra.",
    flags: { org: "required ID", user: "optional ID" },
    isAct: true,
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      const all = flags.user === undefined ? await users.list(org) : [(await findUser(flags)).user];
      const known = all.filter(({ identityId }) => identityId !== undefined);
      for (const { id } of known) await users.forgetIdentity(org, id, administrator);
      return { forgotten: known.length };
    },
  },
  "user remove": {
    about:
      "Removes a user and ends the user's sessions and passkeys; --revoke-keys also revokes the " +
      "API keys that the user has made. The last admin stays unless --force is given.",
    flags: { org: "required ID", user: "required ID", "revoke-keys": "switch", force: "switch" },
    isAct: true,
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      const id = parseId("user", flags);
      const outcome = await users.remove(org, id, { force: flags.force !== undefined });
      if (outcome === "unknown") throw notFound("user", id);
      if (flags["revoke-keys"] !== undefined) await apiKeys.revokeMadeBy(org, id, administrator);
      return { id, removed: true, alreadyRemoved: outcome === "already" };
    },
  },
};

const shown = (user: users.User) => ({
  ...pick(user, "id", "email", "name", "role", "createdAt", "lastSignInAt"),
  hasIdentity: user.identityId !== undefined,
});
