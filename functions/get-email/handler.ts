import { serve } from "../../shared/access/api/serve.ts";
import { stateOf } from "../../shared/alerting/owners/state.ts";
import * as emails from "../../shared/monitoring/emails/email-list.ts";
import { subAddressesOf } from "../../shared/monitoring/unwatched/sub-addresses.ts";
import { getEmail } from "./endpoint.ts";

export const handler = serve(getEmail, async ({ org, path: { id } }) => {
  const email = await emails.get(org, id);
  const [subAddresses, owner] = await Promise.all([subAddressesOf(org, email), stateOf(org, email)]);
  return { ...email, subAddresses, owner };
});
