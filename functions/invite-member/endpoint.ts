import * as z from "zod/mini";
import { member, personName, role } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { emailAddress } from "../../shared/monitoring/emails/email-schema.ts";

export const inviteMember = defineEndpoint({
  summary: "Invite a member",
  description:
    "The member exists at once. A message with a sign-in link, good for 7 days or until the " +
    "first sign-in, goes out if a sender of e-mail is set up.",
  access: "admin",
  body: z.object({ email: emailAddress, name: z.optional(personName), role }),
  status: 201,
  reply: z.object({ ...member.shape, invitationSent: z.boolean() }),
  refusals: ["memberExists"],
  limit: "invitations",
  uses: ["table:read", "table:write", "table:write:identities", "queue:sign-in-mails"],
});
