import { serve } from "../../shared/access/api/serve.ts";
import * as emails from "../../shared/monitoring/emails/email-list.ts";
import { subAddressesOf } from "../../shared/monitoring/unwatched/sub-addresses.ts";
import { getEmail } from "./endpoint.ts";

export const handler = serve(getEmail, async ({ org, path: { id } }) => {
  const email = await emails.get(org, id);
  return { ...email, subAddresses: await subAddressesOf(org, email) };
});
