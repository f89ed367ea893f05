import type * as z from "zod/mini";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { lapsedReason } from "../billing/billing.ts";
import type { User } from "../members/user.ts";
import type { Organization } from "../organizations/organization.ts";
import type { sessionBilling, sessionUser } from "../organizations/organization-schema.ts";
import { expiresAt, type Session } from "./session.ts";

type Shown = {
  user: z.infer<typeof sessionUser>;
  organization: { id: number; name: string; billing: z.infer<typeof sessionBilling> };
  session: { id: number; createdAt: string; expiresAt: string };
};

/** Who is signed in by the session with this hash, and where. Refuses `unauthenticated` when it has just ended. */
export const show = async (org: number, userId: number, hash: string, now: Date): Promise<Shown> => {
  const rows = await table.getMany([
    keys.session(org, userId, hash),
    keys.user(org, userId),
    keys.organization(org),
  ]);
  const [session, user, organization] = rows as [Session?, User?, Organization?];
  if (session === undefined || user === undefined || organization === undefined) {
    throw new Refusal("unauthenticated");
  }
  return {
    user: { id: user.id, email: user.email, name: user.name, role: user.role },
    organization: {
      id: organization.id,
      name: organization.name,
      billing: { status: organization.billing.status, reason: lapsedReason(organization.billing, now) },
    },
    session: { id: session.id, createdAt: session.createdAt, expiresAt: expiresAt(session, organization) },
  };
};
