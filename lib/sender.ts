import { Aws } from "aws-cdk-lib";
import { CfnConfigurationSet } from "aws-cdk-lib/aws-ses";
import type { Construct } from "constructs";
import type { Options } from "./options.ts";

/** Where e-mails come from: an address and a configuration set. Sending needs permission for `resourceArns`. */
export type Sender = {
  address: string;
  configurationSet: string;
  resourceArns: string[];
  confirmRecipients: boolean;
};

/**
 * The sender with this address, and a configuration set. With the set, SES sends nothing to mailboxes that
 * refused a message or complained about one. The stack creates no identity for the address: identities belong
 * to the account, and several stages may send from one. Removing a stage must not end its verification.
 *
 * The resources are all identities of the account. SES wants permission for the sender's identity: the
 * address, its domain or a parent domain. It wants the same for recipients that are identities of the
 * account, as all are in SES's sandbox. Grants name the sender in a condition instead.
 */
export function createSender(
  scope: Construct,
  name: string,
  address: string,
  { confirmRecipients }: Pick<Options, "confirmRecipients">,
): Sender {
  const configurationSet = `${name}-mail`;
  new CfnConfigurationSet(scope, "MailConfiguration", {
    name: configurationSet,
    suppressionOptions: { suppressedReasons: ["BOUNCE", "COMPLAINT"] },
  });
  const resourceArns = ["identity/*", `configuration-set/${configurationSet}`].map(
    (resource) => `arn:${Aws.PARTITION}:ses:${Aws.REGION}:${Aws.ACCOUNT_ID}:${resource}`,
  );
  return { address, configurationSet, resourceArns, confirmRecipients };
}
