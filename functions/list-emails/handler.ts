import { serve } from "../../shared/access/api/serve.ts";
import * as emails from "../../shared/monitoring/emails/email-list.ts";
import { listEmails } from "./endpoint.ts";

export const handler = serve(listEmails, ({ org, query }) => emails.list(org, query));
