import { serve } from "../../shared/access/api/serve.ts";
import * as emails from "../../shared/monitoring/emails/email-list.ts";
import { findEmails } from "./endpoint.ts";

export const handler = serve(findEmails, ({ org, query: { q, ...query } }) =>
  q === undefined ? emails.list(org, query) : emails.find(org, q, query),
);
