/**
 * The entry point of one function instance: a process that loads the function's module once and then runs one invocation
 * at a time. lambda.ts starts it, with the instance's data as its only argument, and is its only counterpart.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

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

export type FunctionError = { errorType: string; errorMessage: string; trace?: string[] };

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

type Handler = (event: unknown, context: object) => unknown;

class RuntimeError extends Error {
  constructor(type: string, message: string) {
    super(message);
    this.name = `Runtime.${type}`;
  }
}

async function loadHandler({ directory, handler }: InstanceData): Promise<Handler> {
  const dot = handler.lastIndexOf(".");
  const [module, name] = [handler.slice(0, dot), handler.slice(dot + 1)];
  const path = [".mjs", ".js", ".cjs"]
    .map((extension) => join(directory, module + extension))
    .find((candidate) => existsSync(candidate));
  if (path === undefined) throw new RuntimeError("ImportModuleError", `Cannot find module '${module}'`);
  const exports: Record<string, unknown> = await import(pathToFileURL(path).href);
  const found = exports[name];
  if (typeof found !== "function") {
    throw new RuntimeError("HandlerNotFound", `${handler} is undefined or not exported`);
  }
  return found as Handler;
}

function contextOf(data: InstanceData, { requestId, deadline }: Invocation): object {
  return {
    awsRequestId: requestId,
    callbackWaitsForEmptyEventLoop: true,
    functionName: data.functionName,
    functionVersion: "$LATEST",
    invokedFunctionArn: data.functionArn,
    memoryLimitInMB: String(data.memoryMegabytes),
    logGroupName: data.logGroupName,
    logStreamName: data.logStreamName,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
}

function describeError(error: unknown): FunctionError {
  if (!(error instanceof Error)) return { errorType: typeof error, errorMessage: String(error) };
  return { errorType: error.name, errorMessage: error.message, trace: (error.stack ?? "").split("\n") };
}

async function run(handler: Handler, data: InstanceData, invocation: Invocation): Promise<InstanceMessage> {
  try {
    const result = await handler(JSON.parse(invocation.event), contextOf(data, invocation));
    return { kind: "answer", payload: JSON.stringify(result) ?? "null" };
  } catch (error) {
    return { kind: "failure", error: describeError(error) };
  }
}

const data: InstanceData = JSON.parse(process.argv[2] ?? "");
const say = (message: InstanceMessage) => process.send?.(message);
// Whoever started this instance has died, without ending it.
process.on("disconnect", () => process.exit());
// Ctrl-C reaches every process of the terminal; when an instance ends is for lambda.ts to say.
process.on("SIGINT", () => {});
// Unhandled rejections too. Lambda's runtime ends with this status.
process.on("uncaughtException", (error) => {
  console.error(error);
  process.send?.({ kind: "crash", error: describeError(error) } satisfies InstanceMessage, () =>
    process.exit(129),
  );
});
try {
  const handler = await loadHandler(data);
  process.on("message", async (invocation: Invocation) => say(await run(handler, data, invocation)));
  say({ kind: "ready" });
} catch (error) {
  say({ kind: "not ready", error: describeError(error) });
}
