/** What the runtime and the process of an instance (lambda-instance.mjs) exchange. */

export type FunctionError = { errorType: string; errorMessage: string; trace?: string[] };

/** The Invoke API's answer. A function that failed has an answer too, with `functionError`. */
export type InvocationResult = { payload: unknown } | { functionError: "Unhandled"; payload: FunctionError };

/** What an instance is started with. */
export type InstanceData = {
  directory: string;
  /** The handler as the template names it: `index.handler`. */
  handler: string;
  functionName: string;
  functionArn: string;
  memoryMegabytes: number;
};

export type Invocation = {
  requestId: string;
  /** Unix time in milliseconds at which the function's timeout passes. */
  deadline: number;
  /** JSON. Only JSON crosses the boundary of a function: a Date becomes text, undefined disappears. */
  event: string;
};

/**
 * What an instance says. "ready" or "not ready" comes once. Then each invocation brings "answer" (with the
 * payload as JSON) or "failure". "crash" comes before it ends because of an error outside of an invocation.
 */
export type InstanceMessage =
  | { kind: "ready" }
  | { kind: "not ready"; error: FunctionError }
  | { kind: "answer"; payload: string }
  | { kind: "failure"; error: FunctionError }
  | { kind: "crash"; error: FunctionError };
