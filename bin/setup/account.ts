/** What has to be in order in the account before anything is deployed. Reads only. */
import { GetAccountSettingsCommand, LambdaClient } from "@aws-sdk/client-lambda";
import {
  GetAccountCommand,
  GetEmailIdentityCommand,
  NotFoundException,
  SESv2Client,
} from "@aws-sdk/client-sesv2";
import { GetParameterCommand, ParameterNotFound, SSMClient } from "@aws-sdk/client-ssm";
import { whyNoAccess } from "../admin/connect.ts";
import { CommandError } from "../admin/error.ts";
import { findCaller } from "../admin/operator.ts";

/** `caller`: the ARN of the credentials. */
export type Account = { id: string; region: string; caller: string };

export const findAccount = async (): Promise<Account> => {
  try {
    const { account: id, arn: caller, region } = await findCaller();
    return { id, region, caller };
  } catch (error) {
    throw new CommandError(whyNoAccess("AWS did not accept these credentials", error as Error));
  }
};

/** Whether `cdk bootstrap` has run in this account and region, with its usual qualifier. */
export const isBootstrapped = async (): Promise<boolean> => {
  const version = new GetParameterCommand({ Name: "/cdk-bootstrap/hnb659fds/version" });
  try {
    await new SSMClient().send(version);
    return true;
  } catch (error) {
    if (error instanceof ParameterNotFound) return false;
    throw new CommandError(
      whyNoAccess("It could not be looked up whether CDK is bootstrapped", error as Error),
    );
  }
};

/** Throws unless SES may send from the address. Gives what limits sending. */
export const checkSender = async (address: string): Promise<string[]> => {
  const client = new SESv2Client();
  try {
    if (!(await isVerified(client, address))) {
      throw new CommandError(
        `Amazon SES has verified neither ${address} nor its domain in this region: verify one ` +
          "(docs/deploy.md), or leave the sender out for now.",
      );
    }
    const { ProductionAccessEnabled } = await client.send(new GetAccountCommand());
    return ProductionAccessEnabled === true
      ? []
      : ["Note: Amazon SES is in its sandbox here: 200 mails a day, to verified recipients only."];
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(whyNoAccess("Amazon SES could not be asked about the sender", error as Error));
  }
};

/** Concurrent executions. Workers with a maximum take up to 112 (docs/deploy.md#quotas). */
const enoughExecutions = 1_000;

/** Says what a small quota of Lambda means, and what to do. It is a notice because AWS takes days to raise it. */
export const checkConcurrency = async ({ region }: Account): Promise<string[]> => {
  const reply = await new LambdaClient().send(new GetAccountSettingsCommand()).catch((error: Error) => error);
  if (reply instanceof Error) {
    const why = whyNoAccess("Lambda's quota of concurrent executions could not be looked up", reply);
    return [`Note: ${why} It should be 1,000 (docs/deploy.md#quotas).`];
  }
  const executions = reply.AccountLimit?.ConcurrentExecutions ?? 0;
  if (executions >= enoughExecutions) return [];
  return [
    `Note: Lambda runs ${executions} functions at once in this account and region. Scans and ` +
      "alerts can use up ten, and requests then fail with 500.",
    `      Request 1,000: aws service-quotas request-service-quota-increase --region ${region} ` +
      "--service-code lambda --quota-code L-B99A9384 --desired-value 1000",
  ];
};

/** An identity is an address, its domain, or a domain above that. */
const isVerified = async (client: SESv2Client, address: string): Promise<boolean> => {
  const labels = address.slice(address.lastIndexOf("@") + 1).split(".");
  for (const EmailIdentity of [address, ...labels.slice(1).map((_, at) => labels.slice(at).join("."))]) {
    const command = new GetEmailIdentityCommand({ EmailIdentity });
    const identity = await client.send(command).catch((error: Error) => {
      if (error instanceof NotFoundException) return undefined;
      throw error;
    });
    if (identity?.VerifiedForSendingStatus === true) return true;
  }
  return false;
};
