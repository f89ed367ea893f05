import * as z from "zod/mini";
import {
  session,
  sessionBilling,
  sessionUser,
} from "../../shared/access/organizations/organization-schema.ts";
import { defineEndpoint } from "../../shared/contract/endpoint.ts";
import { idField } from "../../shared/contract/page.ts";
import { timestamp } from "../../shared/contract/text.ts";

export const getSession = defineEndpoint({
  summary: "Show who is signed in",
  description: "Also answers when the subscription has lapsed, so that the page can say why.",
  access: "user",
  whenLapsed: "answers",
  reply: z.object({
    user: sessionUser,
    organization: z.object({ id: idField, name: z.string(), billing: sessionBilling }),
    session: z.object({ id: idField, createdAt: timestamp, expiresAt: session.shape.expiresAt }),
  }),
  uses: ["table:read"],
});
