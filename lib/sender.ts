import { Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { domainOf, emailAddress } from "../shared/emails/schema.ts";

/** Where e-mail alerts come from, and the identities of SES of which one has to be verified. */
export type Sender = { address: string; identityArns: string[] };

/**
 * SES sends for an address when the address, its domain or a parent of that is verified; which of them it is, a stack does not
 * know. They belong to the account: several stages may send from one, and removing a stage must not end its
 * verification. Throws if the address is none.
 */
export function findSender(scope: Construct, address: string): Sender {
  if (!emailAddress.safeParse(address).success || address !== address.trim()) {
    throw new Error(`senderEmail must be an e-mail address, not "${address}"`);
  }
  const labels = domainOf(address).toLowerCase().split(".");
  const domains = labels.slice(0, -1).map((_, index) => labels.slice(index).join("."));
  const identityArns = [address, ...domains].map((resourceName) =>
    Stack.of(scope).formatArn({ service: "ses", resource: "identity", resourceName }),
  );
  return { address, identityArns };
}
