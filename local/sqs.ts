import { buildApp } from "fauxqs";
// fauxqs exports its server, but not the stores that the server takes; our event sources read the queues in them directly,
// because the server's own long polling looks at every queue fifty times a second.
import { S3Store } from "../node_modules/fauxqs/dist/s3/s3Store.js";
import { SnsStore } from "../node_modules/fauxqs/dist/sns/snsStore.js";
import { type SqsQueue, SqsStore } from "../node_modules/fauxqs/dist/sqs/sqsStore.js";
import type { Assembly } from "./assembly.ts";
import { type EventSource, openEventSource, orderFairly } from "./event-source.ts";
import type { Lambda } from "./lambda.ts";

export interface Sqs {
  readonly endpoint: string;
  /** Puts a message on a queue of the template. Throws for an unknown queue. */
  send(queueArn: string, body: string): void;
  close(): Promise<void>;
}

interface QueueProperties {
  readonly VisibilityTimeout?: number;
  readonly DelaySeconds?: number;
  readonly MaximumMessageSize?: number;
  readonly MessageRetentionPeriod?: number;
  readonly ReceiveMessageWaitTimeSeconds?: number;
  readonly FifoQueue?: boolean;
  readonly ContentBasedDeduplication?: boolean;
  readonly RedrivePolicy?: { readonly deadLetterTargetArn: string; readonly maxReceiveCount: number };
}

/** One entry of SendMessageBatch, and the part of a SendMessage request that matters here. */
interface SendEntry {
  Id?: string;
  DelaySeconds?: number;
  MessageGroupId?: string;
  MessageAttributes?: object;
}

interface RefusedEntry {
  readonly Id: string | undefined;
  readonly SenderFault: true;
  readonly Code: string;
  readonly Message: string;
}

const mediaType = "application/x-amz-json-1.0";
const maximumDelaySeconds = 900;

/**
 * Runs the template's queues and event source mappings on a free loopback port. Delays pass `speed` times faster;
 * visibility timeouts do not. Messages live in memory: they don't survive a restart, nor need they, because to the
 * product a message is only a hint that its own sweeps repeat.
 */
export async function startSqs(settings: {
  readonly assembly: Assembly;
  readonly lambda: Pick<Lambda, "invoke">;
  readonly speed: number;
}): Promise<Sqs> {
  const { assembly, lambda, speed } = settings;
  const store = new SqsStore();
  // fauxqs drops the MessageGroupId of a standard queue's message, where it means fairness. The attributes object is the one
  // thing of a request that it hands on untouched, so the group travels beside that.
  const groups = new WeakMap<object, string>();
  const sources = new Map<SqsQueue, EventSource>();
  createQueues(assembly, store);
  for (const queue of store.allQueues()) {
    const enqueue = queue.enqueue.bind(queue);
    queue.enqueue = (message) => {
      const group = groups.get(message.messageAttributes);
      if (group !== undefined) {
        message.messageGroupId = group;
      }
      enqueue(message);
      sources.get(queue)?.wake();
    };
    const dequeue = queue.dequeue.bind(queue);
    queue.dequeue = (...args) => {
      orderFairly(queue);
      return dequeue(...args);
    };
  }
  for (const mapping of assembly.ofType<EventSourceMappingProperties>("AWS::Lambda::EventSourceMapping")) {
    const queue = store.getQueueByArn(mapping.properties.EventSourceArn);
    if (queue?.isFifo()) {
      throw new Error(`${queue.name}: FIFO queues can't be event sources in a local run`);
    }
    if (queue !== undefined && mapping.properties.Enabled !== false) {
      sources.set(queue, openMapping(assembly, store, queue, mapping.properties, lambda));
    }
  }

  const app = buildApp({
    logger: false,
    stores: { sqsStore: store, snsStore: new SnsStore(), s3Store: new S3Store() },
  });
  const refusedOf = new WeakMap<object, RefusedEntry[]>();

  app.addHook("preHandler", async (request, reply) => {
    const action = request.headers["x-amz-target"]?.toString().replace("AmazonSQS.", "");
    if (action !== "SendMessage" && action !== "SendMessageBatch") {
      return;
    }
    const body = request.body as SendEntry & { QueueUrl: string; Entries?: SendEntry[] };
    const queue = store.getQueue(body.QueueUrl ?? "");
    if (queue === undefined) {
      return;
    }
    const entries = action === "SendMessage" ? [body] : (body.Entries ?? []);
    const refused = entries.flatMap(refuseDelay);
    const [first] = refused;
    if (first !== undefined && action === "SendMessage") {
      return reply
        .status(400)
        .type(mediaType)
        .header("x-amzn-query-error", `${first.Code};Sender`)
        .send({ __type: `com.amazonaws.sqs#${first.Code}`, message: first.Message });
    }
    if (first !== undefined) {
      body.Entries = entries.filter((entry) => !refused.some(({ Id }) => Id === entry.Id));
      if (body.Entries.length === 0) {
        return reply.type(mediaType).send({ Successful: [], Failed: refused });
      }
      refusedOf.set(request, refused);
    }
    for (const entry of entries) {
      if (!queue.isFifo()) {
        entry.DelaySeconds = (entry.DelaySeconds ?? Number(queue.attributes.DelaySeconds)) / speed;
      }
      if (entry.MessageGroupId !== undefined) {
        entry.MessageAttributes ??= {};
        groups.set(entry.MessageAttributes, entry.MessageGroupId);
      }
    }
  });
  app.addHook("preSerialization", async (request, _reply, payload) => {
    const refused = refusedOf.get(request);
    const result = payload as { Failed?: RefusedEntry[] };
    return refused === undefined ? payload : { ...result, Failed: [...(result.Failed ?? []), ...refused] };
  });
  // A request may have made messages visible again, so the queue's event source looks.
  app.addHook("onResponse", async (request) => {
    const queueUrl = (request.body as { QueueUrl?: string } | undefined)?.QueueUrl;
    const queue = queueUrl === undefined ? undefined : store.getQueue(queueUrl);
    if (queue !== undefined) {
      sources.get(queue)?.wake();
    }
  });

  const endpoint = await app.listen({ host: "127.0.0.1", port: 0 });
  return {
    endpoint,
    send: (queueArn, body) => {
      const queue = store.getQueueByArn(queueArn);
      if (queue === undefined) {
        throw new Error(`The template has no queue ${queueArn}`);
      }
      queue.enqueue(SqsStore.createMessage(body));
    },
    close: async () => {
      for (const source of sources.values()) {
        source.close();
      }
      await app.close();
    },
  };
}

function createQueues(assembly: Assembly, store: SqsStore): void {
  for (const { logicalId, properties } of assembly.ofType<QueueProperties>("AWS::SQS::Queue")) {
    const name = assembly.physicalId(logicalId);
    const { RedrivePolicy, ...rest } = properties;
    const attributes: Record<string, string> = {};
    for (const key of [
      "VisibilityTimeout",
      "DelaySeconds",
      "MaximumMessageSize",
      "MessageRetentionPeriod",
      "ReceiveMessageWaitTimeSeconds",
      "FifoQueue",
      "ContentBasedDeduplication",
    ] as const) {
      if (rest[key] !== undefined) {
        attributes[key] = String(rest[key]);
      }
    }
    if (RedrivePolicy !== undefined) {
      attributes.RedrivePolicy = JSON.stringify(RedrivePolicy);
    }
    store.createQueue(
      name,
      assembly.resolve({ Ref: logicalId }) as string,
      assembly.arn(logicalId),
      attributes,
    );
  }
}

interface EventSourceMappingProperties {
  readonly EventSourceArn: string;
  readonly FunctionName: string;
  readonly BatchSize?: number;
  readonly MaximumBatchingWindowInSeconds?: number;
  readonly FunctionResponseTypes?: readonly string[];
  readonly ScalingConfig?: { readonly MaximumConcurrency?: number };
  readonly Enabled?: boolean;
}

/** @throws Error as AWS does when the queue would deliver a batch again while its function may still be running. */
function openMapping(
  assembly: Assembly,
  store: SqsStore,
  queue: SqsQueue,
  properties: EventSourceMappingProperties,
  lambda: Pick<Lambda, "invoke">,
): EventSource {
  const functionArn = properties.FunctionName.startsWith("arn:")
    ? properties.FunctionName
    : `arn:aws:lambda:${assembly.region}:${assembly.accountId}:function:${properties.FunctionName}`;
  const logicalId = assembly.logicalIdOf(functionArn);
  if (logicalId === undefined) {
    throw new Error(`The template has no function ${functionArn}, which an event source mapping names`);
  }
  const { Timeout: timeoutSeconds = 3 } = assembly.resource<{ Timeout?: number }>(logicalId).properties;
  if (Number(queue.attributes.VisibilityTimeout) < timeoutSeconds) {
    throw new Error(
      `Queue visibility timeout: ${queue.attributes.VisibilityTimeout} seconds is less than Function timeout: ` +
        `${timeoutSeconds} seconds (${queue.name})`,
    );
  }
  return openEventSource({
    queue,
    findQueue: (arn) => store.getQueueByArn(arn),
    region: assembly.region,
    invoke: (event) => lambda.invoke(functionArn, event),
    batchSize: properties.BatchSize ?? 10,
    batchingWindowSeconds: properties.MaximumBatchingWindowInSeconds ?? 0,
    maximumConcurrency: properties.ScalingConfig?.MaximumConcurrency,
    reportsItemFailures: properties.FunctionResponseTypes?.includes("ReportBatchItemFailures") ?? false,
  });
}

function refuseDelay({ Id, DelaySeconds }: SendEntry): RefusedEntry[] {
  if (
    DelaySeconds === undefined ||
    (Number.isInteger(DelaySeconds) && DelaySeconds >= 0 && DelaySeconds <= maximumDelaySeconds)
  ) {
    return [];
  }
  const Message =
    `Value ${DelaySeconds} for parameter DelaySeconds is invalid. ` +
    `Reason: DelaySeconds must be >= 0 and <= ${maximumDelaySeconds}.`;
  return [{ Id, SenderFault: true, Code: "InvalidParameterValue", Message }];
}
