import type { Lambda } from "../lambda/lambda.ts";
import type { Assembly } from "../template/assembly.ts";
import { type EventSource, openEventSource } from "./event-source.ts";
import { type Fauxqs, openFauxqs, type Queue } from "./fauxqs.ts";
import { handleSending } from "./sending.ts";

export type Sqs = { endpoint: string; close(): Promise<void> };

/**
 * Runs the template's queues and event source mappings on a free loopback port. Delays pass `speed` times
 * faster, also those that a worker sets with ChangeMessageVisibility; visibility timeouts of queues do not.
 * Messages live in memory and do not survive a restart: to the product a message only wakes a worker, and its
 * own sweeps send it again.
 */
export const startSqs = async (settings: {
  assembly: Assembly;
  lambda: Pick<Lambda, "invoke">;
  speed: number;
}): Promise<Sqs> => {
  const { assembly, lambda, speed } = settings;
  const sources = new Map<Queue, EventSource>();
  const fauxqs = openFauxqs();
  const { app, queueByArn, queueByUrl } = fauxqs;
  createQueues(assembly, fauxqs);
  for (const { properties } of assembly.ofType<MappingProperties>("AWS::Lambda::EventSourceMapping")) {
    const { EventSourceArn, FunctionName, BatchSize, ScalingConfig } = properties;
    const queue = queueByArn(EventSourceArn);
    if (queue === undefined) throw new Error(`The template has no queue ${EventSourceArn}`);
    const functionArn = `arn:aws:lambda:${assembly.region}:${assembly.accountId}:function:${FunctionName}`;
    const source = openEventSource({
      queue,
      region: assembly.region,
      invoke: (event) => lambda.invoke(functionArn, event),
      batchSize: BatchSize ?? 10,
      maximumConcurrency: ScalingConfig?.MaximumConcurrency,
    });
    sources.set(queue, source);
  }
  handleSending(fauxqs, speed);
  // A request may have sent messages or made some visible again, so the queue's event source looks.
  app.addHook("onResponse", async (request) => {
    const queueUrl = (request.body as { QueueUrl?: string } | undefined)?.QueueUrl;
    const queue = queueUrl === undefined ? undefined : queueByUrl(queueUrl);
    if (queue !== undefined) sources.get(queue)?.wake();
  });

  const endpoint = await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    endpoint,
    close: async () => {
      for (const source of sources.values()) source.close();
      await app.close();
    },
  };
};

type MappingProperties = {
  EventSourceArn: string;
  FunctionName: string;
  BatchSize?: number;
  ScalingConfig?: { MaximumConcurrency?: number };
};

type QueueProperties = Record<string, unknown> & {
  RedrivePolicy?: { deadLetterTargetArn: string; maxReceiveCount: number };
};

/** Properties that are attributes of the same name in SQS's API. */
const attributeNames = ["VisibilityTimeout", "MessageRetentionPeriod"];

const createQueues = (assembly: Assembly, { createQueue }: Fauxqs): void => {
  for (const { logicalId, properties } of assembly.ofType<QueueProperties>("AWS::SQS::Queue")) {
    const { RedrivePolicy, ...rest } = properties;
    const attributes = Object.fromEntries(
      attributeNames.filter((name) => rest[name] !== undefined).map((name) => [name, String(rest[name])]),
    );
    if (RedrivePolicy !== undefined) attributes.RedrivePolicy = JSON.stringify(RedrivePolicy);
    const url = assembly.resolve({ Ref: logicalId }) as string;
    createQueue(assembly.physicalId(logicalId), url, assembly.arn(logicalId), attributes);
  }
};
