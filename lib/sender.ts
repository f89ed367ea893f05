import { Aws } from "aws-cdk-lib";
import { emailAddress } from "../shared/emails/schema.ts";

/** Where e-mail alerts come from, and the SES identities of the account. */
export type Sender = { address: string; identitiesArn: string };

/**
 * SES sends for an address when the address, its domain or a parent of that is verified; and where a recipient is an identity
 * of the account, which all are in SES's sandbox, it asks for permission on that one too. So the grant names the sender, and
 * any identity. They belong to the account: several stages may send from one, and removing a stage must not end its
 * verification. Throws if the address is none.
 */
export function findSender(address: string): Sender {
  if (!emailAddress.safeParse(address).success || address !== address.trim()) {
    throw new Error(`senderEmail must be an e-mail address, not "${address}"`);
  }
  const identitiesArn = `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:identity/*`;
  return { address, identitiesArn };
}
