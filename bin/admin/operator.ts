import { userInfo } from "node:os";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { Stack } from "./connect.ts";
import { CommandError } from "./error.ts";

/** Who runs the command: the ARN of the AWS credentials, or the user of this machine for a local service. */
export const findOperator = async ({ isLocal }: Stack): Promise<string> => {
  if (isLocal) return `local user ${userInfo().username}`;
  try {
    return (await findCaller()).arn;
  } catch (error) {
    throw new CommandError(
      "What operators do is logged with their name, and AWS did not tell whose these credentials " +
        `are: ${(error as Error).message.replace(/\.$/, "")}.`,
    );
  }
};

/** Whose the AWS credentials are, and the region that is set. */
export const findCaller = async (): Promise<{ account: string; arn: string; region: string }> => {
  const client = new STSClient();
  try {
    const { Account: account, Arn: arn } = await client.send(new GetCallerIdentityCommand());
    if (account === undefined || arn === undefined) throw new Error("AWS told no identity");
    return { account, arn, region: await client.config.region() };
  } finally {
    client.destroy();
  }
};
