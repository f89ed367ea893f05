import { serve } from "../../shared/access/api/serve.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import * as recipients from "../../shared/alerting/kinds/email/recipient.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { getRecipient } from "./endpoint.ts";

export const handler = serve(getRecipient, async ({ path }) => {
  const entry = await recipients.find(path.token);
  if (entry === undefined) throw new Refusal("recipientLinkInvalid");
  const organization = await organizations.get(entry.org);
  if (organization === undefined || organization.deleting === true) throw new Refusal("recipientLinkInvalid");
  const { email, consent } = entry.recipient;
  return { email, organization: { name: organization.name }, consent: consent ?? null };
});
