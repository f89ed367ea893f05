/** The process of one instance. */
import { fork } from "node:child_process";
import { join } from "node:path";
import type { FunctionDefinition } from "./definition.ts";
import { exited } from "./failures.ts";
import type { FunctionError, InstanceData, InstanceMessage, Invocation } from "./protocol.ts";

export type InstanceProcess = {
  /** A message that cannot be delivered is lost: the process is ending then, which `onEnd` tells. */
  run(invocation: Invocation): void;
  kill(): void;
  /** Resolves when the process has ended, and keeps this process running until then. */
  whenEnded(): Promise<void>;
};

export type InstanceOptions = {
  environment: Record<string, string>;
  /** The descriptor of the file that gets the process's output. */
  output: number;
  onMessage: (message: InstanceMessage) => void;
  /** Called once or twice when the process has ended or could not be started. */
  onEnd: (error: FunctionError) => void;
};

export const startInstance = (
  definition: FunctionDefinition,
  { environment, output, onMessage, onEnd }: InstanceOptions,
): InstanceProcess => {
  const { directory, handler, name: functionName, arn: functionArn, memoryMegabytes } = definition;
  const data: InstanceData = { directory, handler, functionName, functionArn, memoryMegabytes };
  const child = fork(join(import.meta.dirname, "lambda-instance.mjs"), [JSON.stringify(data)], {
    execArgv: [
      // As Lambda's runtime divides the memory: a tenth for young objects, in two halves, and the rest for old ones.
      `--max-semi-space-size=${Math.floor(memoryMegabytes / 20)}`,
      `--max-old-space-size=${memoryMegabytes - Math.floor(memoryMegabytes / 10)}`,
    ],
    env: environment,
    stdio: ["ignore", output, output, "ipc"],
  });
  // Instances alone do not keep the runtime running.
  child.unref();
  child.channel?.unref();
  child.on("message", onMessage);
  child.on("error", ({ message }) => onEnd({ errorType: "Runtime.Unknown", errorMessage: message }));
  child.on("exit", (code, signal) => onEnd(exited(code, signal)));
  return {
    run: (invocation) => {
      child.send(invocation, () => {});
    },
    kill: () => child.kill("SIGKILL"),
    whenEnded: () => {
      child.ref();
      return new Promise((resolve) => child.once("exit", () => resolve()));
    },
  };
};
