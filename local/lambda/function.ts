/** One function: the invocations that wait for an instance, and the instances that serve them. */
import { randomUUID } from "node:crypto";
import { type FunctionDefinition, maximumInstances } from "./definition.ts";
import { answerTooLarge, ended, maximumPayloadBytes, ofRequest, timedOut } from "./failures.ts";
import { type InstanceProcess, startInstance } from "./instance.ts";
import type { FunctionLog } from "./log.ts";
import type { FunctionError, InstanceMessage, InvocationResult } from "./protocol.ts";

export type LambdaFunction = {
  invoke(event: unknown): Promise<InvocationResult>;
  close(): Promise<void>;
};

type PendingInvocation = { requestId: string; event: string; settle(result: InvocationResult): void };

type Instance = {
  process: InstanceProcess;
  /** When its initialization began, later its latest invocation; of `performance.now()`. */
  begunAt: number;
  /** How long its initialization took, until the report of its first invocation says so. */
  initMilliseconds: number | undefined;
  isReady: boolean;
  current: PendingInvocation | undefined;
  timer: NodeJS.Timeout;
};

/**
 * AWS keeps an instance for minutes too. Each takes 35 to 60 MB, up to 200 after much work, and many
 * functions have one.
 */
export const idleSeconds = 120;

/** Lambda's limit; it then tries again within the function's timeout. Here the two times add up. */
const initializationSeconds = 10;

export const openFunction = (
  definition: FunctionDefinition,
  options: {
    log: FunctionLog;
    environment: () => Record<string, string>;
    onError: (error: FunctionError) => void;
  },
): LambdaFunction => {
  const { memoryMegabytes, timeoutSeconds } = definition;
  const { log, environment, onError } = options;
  const instances = new Set<Instance>();
  const waiting: PendingInvocation[] = [];
  let isClosed = false;

  const start = (): void => {
    const limitSeconds = initializationSeconds + timeoutSeconds;
    const instance: Instance = {
      process: startInstance(definition, {
        environment: environment(),
        output: log.descriptor,
        onMessage: (message) => hear(instance, message),
        onEnd: (error) => end(instance, error),
      }),
      begunAt: performance.now(),
      initMilliseconds: undefined,
      isReady: false,
      current: undefined,
      timer: setTimeout(() => end(instance, timedOut("Initialization", limitSeconds)), limitSeconds * 1000),
    };
    instances.add(instance);
  };

  const hear = (instance: Instance, message: InstanceMessage): void => {
    if (!instances.has(instance)) return;
    switch (message.kind) {
      case "ready":
        instance.isReady = true;
        instance.initMilliseconds = performance.now() - instance.begunAt;
        workOrRest(instance);
        provide();
        break;
      case "not ready":
      case "crash":
        end(instance, message.error);
        break;
      case "answer":
      case "failure":
        finish(instance, message);
        workOrRest(instance);
    }
  };

  const finish = (instance: Instance, message: InstanceMessage & { kind: "answer" | "failure" }): void => {
    clearTimeout(instance.timer);
    const { current } = instance;
    if (current === undefined) return;
    answer(current, message);
    log.reported(current.requestId, {
      durationMilliseconds: performance.now() - instance.begunAt,
      memoryMegabytes,
      initMilliseconds: instance.initMilliseconds,
      status: message.kind === "answer" ? "success" : "error",
    });
    instance.initMilliseconds = undefined;
  };

  const answer = (
    invocation: PendingInvocation,
    message: InstanceMessage & { kind: "answer" | "failure" },
  ): void => {
    if (message.kind === "failure") fail(invocation, message.error);
    else if (Buffer.byteLength(message.payload) > maximumPayloadBytes) fail(invocation, answerTooLarge);
    else invocation.settle({ payload: JSON.parse(message.payload) });
  };

  /** Gives a free instance the next invocation, or lets it wait for one for a while. */
  const workOrRest = (instance: Instance): void => {
    clearTimeout(instance.timer);
    instance.current = undefined;
    const next = waiting.shift();
    if (next !== undefined) {
      run(instance, next);
    } else {
      instance.timer = setTimeout(() => end(instance), idleSeconds * 1000).unref();
    }
  };

  const run = (instance: Instance, invocation: PendingInvocation): void => {
    const { requestId, event } = invocation;
    instance.current = invocation;
    instance.begunAt = performance.now();
    log.started(requestId);
    instance.process.run({ requestId, deadline: Date.now() + timeoutSeconds * 1000, event });
    instance.timer = setTimeout(() => end(instance, timedOut("Task", timeoutSeconds)), timeoutSeconds * 1000);
  };

  /** Discards an instance. The invocation that it ran, or was started for, fails with the error. */
  const end = (instance: Instance, error?: FunctionError): void => {
    if (!instances.delete(instance)) return;
    clearTimeout(instance.timer);
    instance.process.kill();
    const failed = instance.isReady ? instance.current : waiting.shift();
    if (failed !== undefined && error !== undefined) fail(failed, error);
    provide();
  };

  const fail = ({ requestId, settle }: PendingInvocation, reason: FunctionError): void => {
    const error = ofRequest(requestId, reason);
    log.failed(requestId, error);
    if (!isClosed) onError(error);
    settle({ functionError: "Unhandled", payload: error });
  };

  /**
   * Puts free instances to work, and starts another one while invocations wait. Only one starts at a time: a
   * start takes a core for longer than most invocations, so those that wait are often served before.
   */
  const provide = (): void => {
    for (const instance of instances) {
      if (instance.isReady && instance.current === undefined && waiting.length > 0) workOrRest(instance);
    }
    const isStarting = [...instances].some(({ isReady }) => !isReady);
    const hasRoom = instances.size < maximumInstances;
    if (waiting.length > 0 && !isStarting && hasRoom && !isClosed) start();
  };

  return {
    invoke: (event) => {
      const json = JSON.stringify(event) ?? "null";
      if (Buffer.byteLength(json) > maximumPayloadBytes) {
        const error = new Error(`The event is larger than ${maximumPayloadBytes} bytes`);
        error.name = "RequestTooLargeException";
        return Promise.reject(error);
      }
      return new Promise((settle) => {
        waiting.push({ requestId: randomUUID(), event: json, settle });
        provide();
      });
    },
    close: async () => {
      isClosed = true;
      const allEnded = [...instances].map(({ process }) => process.whenEnded());
      for (const instance of instances) end(instance, ended);
      for (const invocation of waiting.splice(0)) fail(invocation, ended);
      await Promise.all(allEnded);
      log.close();
    },
  };
};
