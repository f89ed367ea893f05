/** Failures that Lambda reports when an instance was ended from outside, or ended by itself. */
import type { FunctionError } from "./protocol.ts";

/** The limit of a synchronous invocation's payload, in bytes, for the event and for the answer. */
export const maximumPayloadBytes = 6_291_556;

export const timedOut = (what: "Initialization" | "Task", seconds: number): FunctionError => ({
  errorType: "Sandbox.Timedout",
  errorMessage: `${what} timed out after ${seconds.toFixed(2)} seconds`,
});

/** How a process ended: with an exit code, or by a signal. */
export const exited = (code: number | null, signal: NodeJS.Signals | null): FunctionError => {
  const how = signal === null ? `exit status ${code}` : `signal: ${signal}`;
  return {
    errorType: "Runtime.ExitError",
    errorMessage:
      code === 0 ? "Runtime exited without providing a reason" : `Runtime exited with error: ${how}`,
  };
};

/** How an invocation fails if its instance is ended together with the runtime. */
export const ended = exited(0, null);

export const answerTooLarge: FunctionError = {
  errorType: "Function.ResponseSizeTooLarge",
  errorMessage: `Response payload size exceeded maximum allowed payload size (${maximumPayloadBytes} bytes).`,
};

/** Adds the request to the message, as Lambda does when a failure came from outside of the handler. */
export const ofRequest = (
  requestId: string,
  { errorType, errorMessage, trace }: FunctionError,
): FunctionError => {
  const isFromOutside = errorType === "Sandbox.Timedout" || errorType === "Runtime.ExitError";
  return {
    errorType,
    errorMessage: isFromOutside ? `RequestId: ${requestId} Error: ${errorMessage}` : errorMessage,
    ...(trace === undefined ? {} : { trace }),
  };
};
