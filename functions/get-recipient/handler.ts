import { serve } from "../../shared/access/api/serve.ts";
import * as organizations from "../../shared/access/organizations/organization.ts";
import * as recipients from "../../shared/alerting/kinds/recipient.ts";
import { Refusal } from "../../shared/contract/errors.ts";
import { getRecipient } from "./endpoint.ts";

export const handler = serve(getRecipient, async ({ path }) => {
  const found = await recipients.find(path.token);
  if (found === undefined) throw new Refusal("recipientLinkInvalid");
  const organization = await organizations.get(found.org);
  if (organization === undefined || organization.deleting === true) throw new Refusal("recipientLinkInvalid");
  const { email, consent } = found.recipient;
  return { email, organization: { name: organization.name }, consent: consent ?? null };
});
