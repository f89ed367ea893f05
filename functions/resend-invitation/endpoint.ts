import * as z from "zod/mini";
import { member } from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { byId } from "../../shared/contract/page.ts";

export const resendInvitation = defineEndpoint({
  summary: "Invite a member again who has never signed in",
  description:
    "A message with another sign-in link, good for 7 days, goes out if a sender of e-mail is set " +
    "up. The member's first sign-in ends all invitations.",
  access: "admin",
  path: byId,
  reply: z.object({ ...member.shape, invitationSent: z.boolean() }),
  refusals: ["memberNotFound", "memberJoined"],
  limit: "invitations",
  uses: ["table:read", "table:write", "table:write:identities", "queue:sign-in-mails"],
});
