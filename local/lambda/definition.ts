/** A function as the template defines it, with the limits that a local run adds. */
import { availableParallelism } from "node:os";
import type { Assembly } from "../template/assembly.ts";

export type FunctionDefinition = {
  name: string;
  arn: string;
  /** The directory of the function's code. */
  directory: string;
  /** The handler as the template names it: `index.handler`. */
  handler: string;
  runtime: string;
  memoryMegabytes: number;
  timeoutSeconds: number;
  /** The template's variables. */
  variables: Readonly<Record<string, string>>;
};

type FunctionProperties = {
  Code: { S3Key?: string };
  Environment?: { Variables?: Record<string, unknown> };
  Handler: string;
  MemorySize?: number;
  Runtime: string;
  Timeout?: number;
};

/**
 * Instances of one function at most: one for each core, 2 to 4. Each takes about 100 MB, and compiles the
 * code for itself.
 */
export const maximumInstances = Math.min(4, Math.max(2, availableParallelism()));

export const readFunction = (assembly: Assembly, logicalId: string): FunctionDefinition => {
  const name = assembly.physicalId(logicalId);
  const { properties } = assembly.resource<FunctionProperties>(logicalId);
  const variables = Object.entries(properties.Environment?.Variables ?? {});
  return {
    name,
    arn: assembly.arn(logicalId),
    directory: assembly.assetDirectory(properties.Code.S3Key ?? ""),
    handler: properties.Handler,
    runtime: properties.Runtime,
    memoryMegabytes: properties.MemorySize ?? 128,
    timeoutSeconds: properties.Timeout ?? 3,
    variables: Object.fromEntries(variables.map(([key, value]) => [key, String(value)])),
  };
};
