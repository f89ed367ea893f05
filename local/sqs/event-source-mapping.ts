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
  ScalingConfig?: { MaximumConcurrency?: number };
};

/** Opens the event sources of all mappings. */
export const openEventSources = (
  assembly: Assembly,
  lambda: Pick<Lambda, "invoke">,
  queueByArn: (arn: string) => Queue | undefined,
): Map<Queue, EventSource> => {
  const sources = new Map<Queue, EventSource>();
  for (const { properties } of assembly.ofType<MappingProperties>("AWS::Lambda::EventSourceMapping")) {
    const queue = queueByArn(properties.EventSourceArn);
    if (queue !== undefined) sources.set(queue, openMapping(assembly, lambda, queue, properties));
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
  return openEventSource({
    queue,
    region: assembly.region,
    invoke: (event) => lambda.invoke(functionArn, event),
    batchSize: properties.BatchSize ?? 10,
    maximumConcurrency: properties.ScalingConfig?.MaximumConcurrency,
  });
};
