import { Aws, type Stack } from "aws-cdk-lib";
import { CfnConfigurationSet } from "aws-cdk-lib/aws-ses";
import { writtenAddress } from "../shared/monitoring/emails/email-schema.ts";
import type { Options } from "./options.ts";

/** Where e-mails come from: an address and a configuration set. Sending needs permission for `resourceArns`. */
export type Sender = {
  address: string;
  configurationSet: string;
  resourceArns: string[];
  confirmRecipients: boolean;
};

/**
 * The sender with this address, and the configuration set with which SES sends nothing to those whose mailbox
 * refused a message or who complained about one. The stack does not create an identity for the address: identities
 * belong to the account, several stages may send from one, and removing a stage must not end its verification. Throws
 * if it is no e-mail address.
 *
 * Of identities the resources are all of the account, because SES wants permission for the sender's identity (the
 * address, its domain or a parent domain), and for recipients that are identities of the account, as all are in
 * SES's sandbox. Grants name the sender in a condition instead.
 */
export function createSender(
  stack: Stack,
  address: string,
  { confirmRecipients }: Pick<Options, "confirmRecipients">,
): Sender {
  const { data: sender } = writtenAddress.safeParse(address);
  if (sender === undefined || address !== address.trim()) {
    throw new Error(`senderEmail must be an e-mail address, not "${address}"`);
  }
  const configurationSet = `${stack.stackName}-mail`;
  new CfnConfigurationSet(stack, "MailConfiguration", {
    name: configurationSet,
    suppressionOptions: { suppressedReasons: ["BOUNCE", "COMPLAINT"] },
  });
  const resourceArns = ["identity/*", `configuration-set/${configurationSet}`].map(
    (resource) => `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:${resource}`,
  );
  return { address: sender, configurationSet, resourceArns, confirmRecipients };
}
