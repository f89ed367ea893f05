/**
 * Functions of the template, run as AWS Lambda runs them. Each instance is a process with its own memory
 * limit and environment. It takes one invocation at a time, and is kept for the next one. Its end by timeout,
 * crash or idleness touches no other instance. (Threads do not fit: V8 ends the whole process when a worker
 * thread's heap grows too fast.)
 *
 * Unlike on AWS, an instance is not frozen between invocations. Invocations beyond the concurrency wait and
 * are not throttled.
 */
import { mkdirSync } from "node:fs";
import type { Assembly } from "../template/assembly.ts";
import { readFunction } from "./definition.ts";
import { environmentOf } from "./environment.ts";
import { type LambdaFunction, openFunction } from "./function.ts";
import { openLog } from "./log.ts";
import type { FunctionError, InvocationResult } from "./protocol.ts";

export type Lambda = {
  /**
   * Invokes a function by its ARN, and waits for the answer. Rejects only
   * if there is no such function, if the event is over 6 MB (`RequestTooLargeException`), or after `close`.
   */
  invoke(functionArn: string, event: unknown): Promise<InvocationResult>;
  /** Ends every instance at once. Invocations that still run are answered with a function error. */
  close(): Promise<void>;
};

export type LambdaOptions = {
  assembly: Assembly;
  /**
   * Gets one `<function name>.log` per function: what it printed, how it failed, and Lambda's own lines
   * `platform.start` and `platform.report`. Made if missing.
   */
  logDirectory: string;
  /** A function's variables beyond the template's and Lambda's own; they win over both. */
  variables: (functionName: string) => Record<string, string>;
  /** Variables of the template whose names end in `_INTERVAL_SECONDS` are divided by this. */
  speed: number;
  /** Told about every invocation that failed, for the console. */
  onFunctionError?: (functionName: string, error: FunctionError) => void;
};

export const openLambda = (options: LambdaOptions): Lambda => {
  const { assembly, logDirectory, variables, speed, onFunctionError } = options;
  mkdirSync(logDirectory, { recursive: true });
  const functions = new Map<string, LambdaFunction>();
  let isClosed = false;

  const open = (logicalId: string): LambdaFunction => {
    const definition = readFunction(assembly, logicalId);
    const { name } = definition;
    return openFunction(definition, {
      log: openLog(logDirectory, name),
      environment: () =>
        environmentOf(definition, { region: assembly.region, speed, further: variables(name) }),
      onError: (error) => onFunctionError?.(name, error),
    });
  };

  return {
    invoke: async (functionArn, event) => {
      if (isClosed) throw new Error("The functions have ended");
      const logicalId = assembly.logicalIdOf(functionArn);
      if (logicalId === undefined) throw new Error(`The template has no function ${functionArn}`);
      const opened = functions.get(logicalId) ?? open(logicalId);
      functions.set(logicalId, opened);
      return opened.invoke(event);
    },
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await Promise.all([...functions.values()].map((opened) => opened.close()));
    },
  };
};
