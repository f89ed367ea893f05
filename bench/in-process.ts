/** Workers that run in this process, without Lambda, so that the caller decides which message is handled when. */
import { Logger } from "@aws-lambda-powertools/logger";
import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { buildApp } from "fauxqs";
import type { Invocation } from "../shared/aws/queue/consume.ts";
import * as queue from "../shared/aws/queue/queue.ts";
import { type Message, messages, type QueueName } from "../shared/contract/messages.ts";
import { urlVariable } from "../shared/contract/worker.ts";

export const logger = new Logger({ logLevel: "SILENT" });

/** The invocation of a worker that has this many seconds left. */
export const invocation = (seconds = 300): Invocation => {
  const endsAt = Date.now() + seconds * 1000;
  return { logger, remainingSeconds: () => (endsAt - Date.now()) / 1000 };
};

/** Starts a queue of each kind. `variables`: of the environment, with which the product finds them. */
export const startQueues = async (): Promise<{
  variables: Record<string, string>;
  close: () => Promise<void>;
}> => {
  const server = buildApp({ logger: false });
  const endpoint = await server.listen({ host: "127.0.0.1", port: 0 });
  const client = new SQSClient({
    endpoint,
    region: "us-east-1",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  const variables: Record<string, string> = { AWS_ENDPOINT_URL_SQS: endpoint };
  for (const QueueName of Object.keys(messages) as QueueName[]) {
    await client.send(new CreateQueueCommand({ QueueName }));
    variables[urlVariable(QueueName)] = `${endpoint}/000000000000/${QueueName}`;
  }
  client.destroy();
  return { variables, close: () => server.close() };
};

/** As many as SQS gives at once. */
const most = 10;

/** Takes all messages off a queue. */
export const takeMessages = async <Q extends QueueName>(name: Q): Promise<Message<Q>[]> => {
  process.env.SOURCE_QUEUE_URL = process.env[urlVariable(name)];
  const taken: Message<Q>[] = [];
  for (;;) {
    const received = await queue.receive(most, 0);
    taken.push(...received.map(({ body }) => messages[name].parse(JSON.parse(body)) as Message<Q>));
    await queue.remove(received.map(({ receiptHandle }) => receiptHandle));
    // The queue gives all that it has.
    if (received.length < most) return taken;
  }
};
