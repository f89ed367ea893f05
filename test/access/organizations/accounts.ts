import * as users from "../../../shared/access/members/user.ts";
import * as organizations from "../../../shared/access/organizations/organization.ts";
import { activeBilling } from "./billing.ts";

/** Creates a paying organization without a schedule of scans, and returns its id. */
export const createOrganization = async (name = "Acme"): Promise<number> =>
  (await organizations.create({ name, billing: activeBilling, scanEvery: "never" })).id;

/** Creates a user, who is an admin unless something else is said. */
export const createUser = async (
  org: number,
  email: string,
  { role }: { role?: "admin" | "member" } = {},
  options: Parameters<typeof users.create>[2] = {},
): Promise<users.User> => {
  const user = await users.create(org, { email, name: null, ...(role && { role }) }, options);
  if (user === "exists") throw new Error(`Another user has the address ${email}`);
  return user;
};
