/**
 * Functions of the template, run as AWS Lambda runs them: each instance is a process with its own memory limit and
 * environment; it takes one invocation at a time, is kept for the next one, and ends with its timeout, crash or idleness
 * without touching another. (Not a worker thread: V8 ends the whole process when a thread's heap grows too fast.)
 * Unlike on AWS, an instance is not frozen between invocations, and invocations beyond the concurrency wait instead of
 * being throttled.
 */
import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Assembly } from "./assembly.ts";

export type FunctionError = { errorType: string; errorMessage: string; trace?: string[] };

/** As the Invoke API answers: a function that failed has an answer too, with `functionError` beside it. */
export type InvocationResult = { payload: unknown } | { functionError: "Unhandled"; payload: FunctionError };

export type Lambda = {
  /**
   * Invokes a function by its ARN (a version or alias in it is ignored) and waits for the answer.
   * Rejects only if there is no such function, the event is over 6 MB (`RequestTooLargeException`), or all is closing.
   */
  invoke(functionArn: string, event: unknown): Promise<InvocationResult>;
  /** Ends every instance at once; what still runs is answered with a function error. */
  close(): Promise<void>;
};

export type LambdaOptions = {
  assembly: Assembly;
  /**
   * Gets one `<function name>.log` per function: what it printed, how it failed, and Lambda's own lines (`platform.start`,
   * and `platform.report` of each run that it ended itself). Made if missing.
   */
  logDirectory: string;
  /** A function's variables beyond the template's and Lambda's own; they win over both. */
  variables: (functionName: string) => Record<string, string>;
  /** Variables of the template whose names end in `_INTERVAL_SECONDS` are divided by this. */
  speed: number;
  /** Told about every invocation that failed, for the console. */
  onFunctionError?: (functionName: string, error: FunctionError) => void;
};

/** What an instance is started with. */
export type InstanceData = {
  directory: string;
  /** As in the template: `index.handler`. */
  handler: string;
  functionName: string;
  functionArn: string;
  memoryMegabytes: number;
  logGroupName: string;
  logStreamName: string;
};

export type Invocation = {
  requestId: string;
  /** Unix time in milliseconds at which the function's timeout passes. */
  deadline: number;
  /** The event as JSON: what crosses the boundary of a function is JSON, so that a Date or undefined becomes what it would. */
  event: string;
};

/**
 * What an instance says: once that it is ready or cannot be, then one answer (its JSON, as text) or failure per invocation;
 * last of all that it crashed, if it did.
 */
export type InstanceMessage =
  | { kind: "ready" }
  | { kind: "not ready"; error: FunctionError }
  | { kind: "answer"; payload: string }
  | { kind: "failure"; error: FunctionError }
  | { kind: "crash"; error: FunctionError };

type FunctionProperties = {
  Code: { S3Key?: string };
  Environment?: { Variables?: Record<string, unknown> };
  Handler: string;
  MemorySize?: number;
  ReservedConcurrentExecutions?: number;
  Runtime: string;
  Timeout?: number;
};

/** How many instances of one function may run: a developer's machine has few cores, and each takes about 100 MB. */
const instancesAtMost = 4;
/** Of a function that a queue feeds, which may wait long for servers elsewhere. As many batches are taken (event-source.ts). */
const queueInstancesAtMost = 8;
const idleSeconds = 60;
/**
 * How much memory the functions of all instances may have been given; with more, instances that have been idle longest end.
 * Of its 256 MB one takes about 35, of the planner's 1024 about 200. LOCAL_KEPT_MEGABYTES says otherwise for those who would
 * rather wait less for instances to start, as the tests.
 */
const defaultKeptMegabytes = 2560;
/** How long an instance has at least been idle when it ends: in a burst of requests it is about to be used again. */
const shortestIdleSeconds = 1;
/** Initialization may take ten seconds, then Lambda tries it again within the function's timeout; we just add the two. */
const initializationSeconds = 10;
/** The limit of a synchronous invocation's payload, in bytes, each way. */
const maximumPayloadBytes = 6_291_556;

export function openLambda(options: LambdaOptions): Lambda {
  mkdirSync(options.logDirectory, { recursive: true });
  const functions = new Map<string, LambdaFunction>();
  const population = openPopulation();
  let closed = false;

  function open(functionArn: string): LambdaFunction {
    const logicalId = options.assembly.logicalIdOf(functionArn);
    if (logicalId === undefined) throw new Error(`The template has no function ${functionArn}`);
    const known = functions.get(logicalId);
    if (known !== undefined) return known;
    const opened = openFunction(logicalId, options, population);
    functions.set(logicalId, opened);
    return opened;
  }

  return {
    invoke: async (functionArn, event) => {
      if (closed) throw new Error("The functions have ended");
      return open(functionArn).invoke(event);
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await Promise.all([...functions.values()].map((one) => one.close()));
    },
  };
}

/** The instances of all functions. */
type Population = {
  add(instance: Instance): void;
  /** Once for each that was added. */
  delete(instance: Instance): void;
  /** `end` is called when there are too many, and others have been idle for less. */
  idle(instance: Instance, end: () => void): void;
  busy(instance: Instance): void;
};

function openPopulation(): Population {
  /** Longest first. */
  const idle = new Map<Instance, { since: number; end: () => void }>();
  const keptMegabytes = Number(process.env.LOCAL_KEPT_MEGABYTES ?? defaultKeptMegabytes);
  let megabytes = 0;
  function trim(): void {
    const before = performance.now() - shortestIdleSeconds * 1000;
    for (const { since, end } of idle.values()) {
      if (megabytes <= keptMegabytes || since > before) return;
      end();
    }
  }
  return {
    add: (instance) => {
      megabytes += instance.memoryMegabytes;
      trim();
    },
    delete: (instance) => {
      idle.delete(instance);
      megabytes -= instance.memoryMegabytes;
    },
    idle: (instance, end) => {
      idle.set(instance, { since: performance.now(), end });
      setTimeout(trim, shortestIdleSeconds * 1000 + 1).unref();
    },
    busy: (instance) => idle.delete(instance),
  };
}

type LambdaFunction = { invoke(event: unknown): Promise<InvocationResult>; close(): Promise<void> };
type Waiting = { requestId: string; event: string; settle(result: InvocationResult): void };
type Instance = {
  process: ChildProcess;
  /** When what it is doing began, of `performance.now()`: its initialization, then a run. */
  begunAt: number;
  /** Until a run has reported it. */
  initMilliseconds: number | undefined;
  /** What its function has been given. */
  memoryMegabytes: number;
  ready: boolean;
  current: Waiting | undefined;
  timer: NodeJS.Timeout;
};

function openFunction(logicalId: string, options: LambdaOptions, population: Population): LambdaFunction {
  const { assembly } = options;
  const functionName = assembly.physicalId(logicalId);
  const { properties } = assembly.resource<FunctionProperties>(logicalId);
  const memoryMegabytes = properties.MemorySize ?? 128;
  const timeoutSeconds = properties.Timeout ?? 3;
  const isFedByQueue = assembly
    .ofType<{ FunctionName: string }>("AWS::Lambda::EventSourceMapping")
    .some((mapping) => mapping.properties.FunctionName === functionName);
  const maximumInstances = Math.min(
    isFedByQueue ? queueInstancesAtMost : instancesAtMost,
    Math.max(1, properties.ReservedConcurrentExecutions ?? Number.POSITIVE_INFINITY),
  );
  const data: Omit<InstanceData, "logStreamName"> = {
    directory: assembly.assetDirectory(properties.Code.S3Key ?? ""),
    handler: properties.Handler,
    functionName,
    functionArn: assembly.arn(logicalId),
    memoryMegabytes,
    logGroupName: `/aws/lambda/${functionName}`,
  };
  const log = openLog(options.logDirectory, functionName);

  const instances = new Set<Instance>();
  const waiting: Waiting[] = [];
  let closed = false;

  function start(): void {
    const logStreamName = `${new Date().toISOString().slice(0, 10).replaceAll("-", "/")}/[$LATEST]${randomUUID().replaceAll("-", "")}`;
    const child = fork(
      join(import.meta.dirname, "lambda-instance.mjs"),
      [JSON.stringify({ ...data, logStreamName } satisfies InstanceData)],
      {
        execArgv: [
          `--max-old-space-size=${memoryMegabytes}`,
          // Of what is young V8 keeps three of these, 16 MB each by default, before it looks what is still used.
          `--max-semi-space-size=${Math.max(1, Math.round(memoryMegabytes / 128))}`,
        ],
        env: environmentOf(functionName, properties, logStreamName, options),
        stdio: ["ignore", log, log, "ipc"],
      },
    );
    // Instances serve whoever started us; alone they do not keep the process running.
    child.unref();
    child.channel?.unref();
    const instance: Instance = {
      process: child,
      begunAt: performance.now(),
      initMilliseconds: undefined,
      memoryMegabytes,
      ready: false,
      current: undefined,
      timer: setTimeout(
        () => {
          end(instance, timeout("Initialization", initializationSeconds + timeoutSeconds));
        },
        (initializationSeconds + timeoutSeconds) * 1000,
      ),
    };
    instances.add(instance);
    population.add(instance);
    child.on("message", (message: InstanceMessage) => hear(instance, message));
    child.on("error", (error) =>
      end(instance, { errorType: "Runtime.Unknown", errorMessage: error.message }),
    );
    child.on("exit", (code, signal) => end(instance, exit(code, signal)));
  }

  function hear(instance: Instance, message: InstanceMessage): void {
    if (!instances.has(instance)) return;
    switch (message.kind) {
      case "ready":
        instance.ready = true;
        instance.initMilliseconds = performance.now() - instance.begunAt;
        rest(instance);
        provide();
        break;
      case "not ready":
      case "crash":
        end(instance, message.error);
        break;
      case "answer":
      case "failure": {
        const { current } = instance;
        clearTimeout(instance.timer);
        if (current !== undefined) {
          answer(current, message);
          report(instance, current, message.kind === "answer" ? "success" : "error");
        }
        rest(instance);
      }
    }
  }

  function answer(invocation: Waiting, message: InstanceMessage & { kind: "answer" | "failure" }): void {
    if (message.kind === "failure") {
      fail(invocation, message.error);
    } else if (Buffer.byteLength(message.payload) > maximumPayloadBytes) {
      fail(invocation, {
        errorType: "Function.ResponseSizeTooLarge",
        errorMessage: `Response payload size exceeded maximum allowed payload size (${maximumPayloadBytes} bytes).`,
      });
    } else {
      invocation.settle({ payload: JSON.parse(message.payload) });
    }
  }

  /** Gives a free instance the next invocation, or lets it wait for one for a while. */
  function rest(instance: Instance): void {
    clearTimeout(instance.timer);
    instance.current = undefined;
    const next = waiting.shift();
    if (next !== undefined) {
      run(instance, next);
    } else {
      instance.timer = setTimeout(() => end(instance), idleSeconds * 1000).unref();
      population.idle(instance, () => end(instance));
    }
  }

  function run(instance: Instance, invocation: Waiting): void {
    clearTimeout(instance.timer);
    population.busy(instance);
    instance.current = invocation;
    instance.begunAt = performance.now();
    const { requestId, event } = invocation;
    note("platform.start", { requestId, version: "$LATEST" });
    const deadline = Date.now() + timeoutSeconds * 1000;
    // A message that cannot be delivered means that the instance is ending, which its exit tells.
    instance.process.send({ requestId, deadline, event } satisfies Invocation, () => {});
    instance.timer = setTimeout(() => end(instance, timeout("Task", timeoutSeconds)), timeoutSeconds * 1000);
  }

  function report(instance: Instance, { requestId }: Waiting, status: "success" | "error"): void {
    const durationMs = performance.now() - instance.begunAt;
    const metrics = { durationMs, memorySizeMB: memoryMegabytes, initDurationMs: instance.initMilliseconds };
    instance.initMilliseconds = undefined;
    note("platform.report", { requestId, metrics, status });
  }

  /** As Lambda does in the log format JSON. */
  function note(type: string, record: object): void {
    writeSync(log, `${JSON.stringify({ time: new Date().toISOString(), type, record })}\n`);
  }

  /** Discards an instance. What it was running, or was started to run, fails with the error. */
  function end(instance: Instance, error?: FunctionError): void {
    if (!instances.delete(instance)) return;
    clearTimeout(instance.timer);
    population.delete(instance);
    instance.process.kill("SIGKILL");
    const failed = instance.ready ? instance.current : waiting.shift();
    if (failed !== undefined && error !== undefined) fail(failed, error);
    provide();
  }

  function fail({ requestId, settle }: Waiting, { errorType, errorMessage, trace }: FunctionError): void {
    // As Lambda words it: what ended an instance from outside names the request.
    const outside = errorType === "Sandbox.Timedout" || errorType === "Runtime.ExitError";
    const error: FunctionError = {
      errorType,
      errorMessage: outside ? `RequestId: ${requestId} Error: ${errorMessage}` : errorMessage,
      ...(trace === undefined ? {} : { trace }),
    };
    const line = JSON.stringify(error);
    writeSync(log, `${new Date().toISOString()}\t${requestId}\tERROR\tInvoke Error\t${line}\n`);
    if (!closed) options.onFunctionError?.(functionName, error);
    settle({ functionError: "Unhandled", payload: error });
  }

  /**
   * Puts free instances to work and starts another while invocations wait, one at a time: starting takes a core for longer than
   * most invocations run, so those that wait are often served before a second one is up.
   */
  function provide(): void {
    for (const instance of instances) {
      if (instance.ready && instance.current === undefined && waiting.length > 0) rest(instance);
    }
    const isStarting = [...instances].some(({ ready }) => !ready);
    if (waiting.length > 0 && !isStarting && instances.size < maximumInstances && !closed) start();
  }

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
      closed = true;
      const ended = [...instances].map(
        ({ process }) =>
          new Promise((resolve) => {
            process.ref();
            process.once("exit", resolve);
          }),
      );
      for (const instance of instances) end(instance, exit(0, null));
      for (const invocation of waiting.splice(0)) fail(invocation, exit(0, null));
      await Promise.all(ended);
      closeSync(log);
    },
  };
}

function environmentOf(
  functionName: string,
  properties: FunctionProperties,
  logStreamName: string,
  { assembly, speed, variables }: LambdaOptions,
): Record<string, string> {
  const fromTemplate = Object.entries(properties.Environment?.Variables ?? {}).map(([name, value]) => [
    name,
    name.endsWith("_INTERVAL_SECONDS") ? String(Number(value) / speed) : String(value),
  ]);
  const { NODE_COMPILE_CACHE } = process.env;
  return {
    ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
    TZ: ":UTC",
    _HANDLER: properties.Handler,
    AWS_DEFAULT_REGION: assembly.region,
    AWS_EXECUTION_ENV: `AWS_Lambda_${properties.Runtime}`,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(properties.MemorySize ?? 128),
    AWS_LAMBDA_FUNCTION_NAME: functionName,
    AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
    AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${functionName}`,
    AWS_LAMBDA_LOG_STREAM_NAME: logStreamName,
    AWS_REGION: assembly.region,
    ...Object.fromEntries(fromTemplate),
    ...variables(functionName),
  };
}

function openLog(directory: string, functionName: string): number {
  return openSync(join(directory, `${functionName}.log`), "a", 0o600);
}

function timeout(what: string, seconds: number): FunctionError {
  return {
    errorType: "Sandbox.Timedout",
    errorMessage: `${what} timed out after ${seconds.toFixed(2)} seconds`,
  };
}

function exit(code: number | null, signal: NodeJS.Signals | null): FunctionError {
  const how = signal === null ? `exit status ${code}` : `signal: ${signal}`;
  return {
    errorType: "Runtime.ExitError",
    errorMessage:
      code === 0 ? "Runtime exited without providing a reason" : `Runtime exited with error: ${how}`,
  };
}
