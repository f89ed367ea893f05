import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { CommandError } from "./error.ts";

/** What a command needs to know of the stack it works on: its outputs. */
export type Stack = { outputs: Record<string, string>; isLocal: boolean };

const defaultPort = "3000";

/**
 * Finds the stack and sets the environment that the service's modules read. `stack`: a deployed one, with the caller's own
 * AWS credentials. Otherwise the local service on `port`.
 */
export const connect = async (where: {
  port: string | undefined;
  stack: string | undefined;
}): Promise<Stack> => {
  if (where.stack !== undefined && where.port !== undefined) {
    throw new CommandError("Give --port for a local service or --stack for a deployed one, not both.");
  }
  const stack =
    where.stack !== undefined ? await findDeployed(where.stack) : await findLocal(where.port ?? defaultPort);
  const { outputs } = stack;
  process.env.TABLE_NAME = outputs.TableName;
  process.env.SCAN_PLANS_QUEUE_URL = outputs.ScanPlansQueueUrl;
  process.env.DELIVERIES_QUEUE_URL = outputs.DeliveriesQueueUrl;
  return stack;
};

const findDeployed = async (name: string): Promise<Stack> => {
  const reply = await new CloudFormationClient().send(new DescribeStacksCommand({ StackName: name }));
  const outputs = reply.Stacks?.[0]?.Outputs ?? [];
  return {
    isLocal: false,
    outputs: Object.fromEntries(
      outputs.map(({ OutputKey = "", OutputValue = "" }) => [OutputKey, OutputValue]),
    ),
  };
};

const findLocal = async (port: string): Promise<Stack> => {
  if (!/^\d+$/.test(port)) throw new CommandError(`--port must be a number, not "${port}".`);
  const url = `http://127.0.0.1:${port}/.local/stack`;
  let reply: Response;
  try {
    reply = await fetch(url);
  } catch {
    throw new CommandError(
      `No local service answers on port ${port}: start one with "npm start", or name its port with --port or a deployed stack with --stack.`,
    );
  }
  if (!reply.ok) throw new CommandError(`What answers on port ${port} is not this service.`);
  const { outputs, environment } = (await reply.json()) as {
    outputs: Record<string, string>;
    environment: Record<string, string>;
  };
  Object.assign(process.env, environment);
  return { outputs, isLocal: true };
};
