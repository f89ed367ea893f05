import { Aws } from "aws-cdk-lib";
import { emailAddress } from "../shared/emails/schema.ts";

/** The address that e-mail alerts come from, and the resources of SES that sending needs permission for. */
export type Sender = { address: string; resourceArns: string[] };

/**
 * The sender with this address. The stack does not create an identity for it: identities belong to the
 * account, several stages may send from one, and removing a stage must not end its verification. Throws if it
 * is no e-mail address.
 *
 * The resources are all identities and configuration sets of the account, because SES wants permission for
 * the sender's identity (the address, its domain or a parent domain), for its default configuration set, and
 * for recipients that are identities of the account, as all are in SES's sandbox. Grants name the sender in a
 * condition instead.
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
