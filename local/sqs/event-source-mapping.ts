/** Event source mappings of the template. */
import type { Lambda } from "../lambda/lambda.ts";
import { functionArnOf } from "../template/arns.ts";
import type { Assembly } from "../template/assembly.ts";
import { type EventSource, openEventSource } from "./event-source.ts";
import type { Queue } from "./fauxqs.ts";

type MappingProperties = {
  EventSourceArn: string;
  FunctionName: string;
  BatchSize?: number;
  MaximumBatchingWindowInSeconds?: number;
  FunctionResponseTypes?: readonly string[];
  ScalingConfig?: { MaximumConcurrency?: number };
  Enabled?: boolean;
};

/** Opens the event sources of all enabled mappings. Throws for a mapping that AWS or this runtime refuses. */
export const openEventSources = (
  assembly: Assembly,
  lambda: Pick<Lambda, "invoke">,
  queueByArn: (arn: string) => Queue | undefined,
): Map<Queue, EventSource> => {
  const sources = new Map<Queue, EventSource>();
  for (const { properties } of assembly.ofType<MappingProperties>("AWS::Lambda::EventSourceMapping")) {
    const queue = queueByArn(properties.EventSourceArn);
    if (queue?.isFifo) throw new Error(`${queue.name}: FIFO queues can't be event sources in a local run`);
    if (queue !== undefined && properties.Enabled !== false) {
      sources.set(queue, openMapping(assembly, lambda, queue, properties));
    }
  }
  return sources;
};

const openMapping = (
  assembly: Assembly,
  lambda: Pick<Lambda, "invoke">,
  queue: Queue,
  properties: MappingProperties,
): EventSource => {
  const functionArn = functionArnOf(assembly, properties.FunctionName);
  refuseShortTimeout(assembly, queue, functionArn);
  return openEventSource({
    queue,
    region: assembly.region,
    invoke: (event) => lambda.invoke(functionArn, event),
    batchSize: properties.BatchSize ?? 10,
    batchingWindowSeconds: properties.MaximumBatchingWindowInSeconds ?? 0,
    maximumConcurrency: properties.ScalingConfig?.MaximumConcurrency,
    reportsItemFailures: properties.FunctionResponseTypes?.includes("ReportBatchItemFailures") ?? false,
  });
};

/** Throws as AWS does when the queue would deliver a batch again while its function may still be running. */
const refuseShortTimeout = (assembly: Assembly, queue: Queue, functionArn: string): void => {
  const logicalId = assembly.logicalIdOf(functionArn);
  if (logicalId === undefined) {
    throw new Error(`The template has no function ${functionArn}, which an event source mapping names`);
  }
  const { Timeout: timeoutSeconds = 3 } = assembly.resource<{ Timeout?: number }>(logicalId).properties;
  const visibilityTimeoutSeconds = queue.visibilityTimeoutSeconds();
  if (visibilityTimeoutSeconds < timeoutSeconds) {
    throw new Error(
      `Queue visibility timeout: ${visibilityTimeoutSeconds} seconds is less than Function timeout: ` +
        `${timeoutSeconds} seconds (${queue.name})`,
    );
  }
};
