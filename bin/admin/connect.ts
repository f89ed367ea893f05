import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { notedPorts } from "../../local/runs.ts";
import { CommandError } from "./error.ts";

/** The stack that a command works on. `outputs` are its CloudFormation outputs. */
export type Stack = { outputs: Record<string, string>; isLocal: boolean };

const defaultPort = "3000";

const localTimeoutMilliseconds = 10_000;

/**
 * Finds the stack and sets the environment variables that the modules of `shared/` read. `stack` names a
 * deployed one, for which the caller's AWS credentials are used; without it the local service on `port` is
 * meant. By default that is the one on port 3000, else the only one that runs. Throws `CommandError`.
 */
export const connect = async (where: {
  port: string | undefined;
  stack: string | undefined;
}): Promise<Stack> => {
  if (where.stack !== undefined && where.port !== undefined) {
    throw new CommandError("Give --port for a local service or --stack for a deployed one, not both.");
  }
  const stack =
    where.stack !== undefined
      ? await findDeployed(where.stack)
      : where.port !== undefined
        ? await findLocal(where.port)
        : await findOnlyLocal();
  const { outputs } = stack;
  for (const [variable, output] of Object.entries(outputOf)) process.env[variable] = outputs[output];
  // A stack that sends no e-mail has no such output.
  process.env.SENDER_EMAIL = outputs.SenderEmail ?? "";
  return stack;
};

/** Environment variables that the modules of `shared/` read, and the outputs of the stack with their values. */
const outputOf = {
  TABLE_NAME: "TableName",
  OUTBOX_QUEUE_URL: "OutboxQueueUrl",
  DELIVERIES_QUEUE_URL: "DeliveriesQueueUrl",
  ACKNOWLEDGEMENTS_QUEUE_URL: "AcknowledgementsQueueUrl",
  CHANNEL_KEY_PARAMETER: "ChannelKeyParameter",
};

/** Whether a stack with these outputs is this service's. */
const isService = (outputs: Record<string, string> | undefined): outputs is Record<string, string> =>
  Object.values(outputOf).every((name) => outputs?.[name] !== undefined);

const findDeployed = async (name: string): Promise<Stack> => {
  if (name === "") throw new CommandError("--stack must name a stack, such as breach-monitor-production.");
  const client = new CloudFormationClient();
  const reply = await client.send(new DescribeStacksCommand({ StackName: name })).catch((error: Error) => {
    throw new CommandError(whyNotDescribed(name, error));
  });
  const outputs = Object.fromEntries(
    (reply.Stacks?.[0]?.Outputs ?? []).map(({ OutputKey = "", OutputValue = "" }) => [
      OutputKey,
      OutputValue,
    ]),
  );
  if (!isService(outputs)) {
    throw new CommandError(
      `The stack ${name} is not this service's, or not all of it is deployed: name another with ` +
        `--stack, or run "npx cdk deploy".`,
    );
  }
  return { outputs, isLocal: false };
};

const whyNotDescribed = (stack: string, error: Error): string => {
  if (error.name === "ValidationError" && error.message.includes("does not exist")) {
    return (
      `There is no stack ${stack} in this account and region: "aws cloudformation list-stacks" ` +
      "lists what is there."
    );
  }
  return whyNoAccess(`The stack ${stack} could not be looked up with these AWS credentials`, error);
};

/** A sentence about a request to AWS that failed. `what` says what was in vain, without a period. */
export const whyNoAccess = (what: string, { message }: Error): string => {
  if (message === "Region is missing") {
    return "No AWS region is set: name the stack's in AWS_REGION.";
  }
  if (message === "Could not load credentials from any providers") {
    return 'No AWS credentials were found: name a profile that exists in AWS_PROFILE, or run "aws configure".';
  }
  return `${what}: ${message.replace(/\.$/, "")}.`;
};

/** The reply of a local service to `GET /.local/stack`. */
type LocalStack = { outputs: Record<string, string>; environment: Record<string, string> };

const findOnlyLocal = async (): Promise<Stack> => {
  const ports = [...new Set([defaultPort, ...notedPorts()])];
  const answers = await Promise.all(
    ports.map(async (port) => {
      const local = await askLocal(port).catch(() => null);
      return isService(local?.outputs) ? [port] : [];
    }),
  );
  const running = answers.flat();
  const [only = defaultPort] = running;
  if (running.length <= 1 || running.includes(defaultPort)) return findLocal(only);
  throw new CommandError(`Local services run on the ports ${running.join(", ")}: name one with --port.`);
};

const askLocal = async (port: string): Promise<LocalStack | null> => {
  // A service that is stopped by Ctrl-Z takes connections and does not answer.
  const signal = AbortSignal.timeout(localTimeoutMilliseconds);
  const reply = await fetch(`http://127.0.0.1:${port}/.local/stack`, { signal });
  return (await reply.json().catch(() => null)) as LocalStack | null;
};

const findLocal = async (port: string): Promise<Stack> => {
  if (!/^\d+$/.test(port)) throw new CommandError(`--port must be a number, not "${port}".`);
  const local = await askLocal(port).catch(() => {
    throw new CommandError(
      `No local service answers on port ${port}: start one with "npm start", or name its port ` +
        "with --port or a deployed stack with --stack.",
    );
  });
  if (!isService(local?.outputs)) {
    throw new CommandError(
      `What answers on port ${port} is not this service: name its port with --port, or a deployed stack with --stack.`,
    );
  }
  Object.assign(process.env, local?.environment);
  return { outputs: local.outputs, isLocal: true };
};
