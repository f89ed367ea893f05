import { Aws } from "aws-cdk-lib";
import { emailAddress } from "../shared/emails/schema.ts";

/** Where e-mail alerts come from, and what of SES sending touches. */
export type Sender = { address: string; resourceArns: string[] };

/**
 * SES sends for an address when the address, its domain or a parent of that is verified; and where a recipient is an identity
 * of the account, which all are in SES's sandbox, or the sender's identity has a default configuration set, it asks for
 * permission on that too. So the grant names the sender, and any identity and configuration set. Identities belong to the
 * account: several stages may send from one, and removing a stage must not end its verification. Throws if the address is none.
 */
export function findSender(address: string): Sender {
  if (!emailAddress.safeParse(address).success || address !== address.trim()) {
    throw new Error(`senderEmail must be an e-mail address, not "${address}"`);
  }
  const resourceArns = ["identity/*", "configuration-set/*"].map(
    (resource) => `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:${resource}`,
  );
  return { address, resourceArns };
}
