import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { FunctionError } from "./protocol.ts";

/** The log file of one function, with Lambda's own lines in its log format JSON. */
export type FunctionLog = {
  /** The file's descriptor, for the output of instances. */
  descriptor: number;
  started(requestId: string): void;
  /** `initMilliseconds`: of the instance's first invocation only. */
  reported(requestId: string, report: FunctionReport): void;
  failed(requestId: string, error: FunctionError): void;
  close(): void;
};

export type FunctionReport = {
  durationMilliseconds: number;
  memoryMegabytes: number;
  initMilliseconds: number | undefined;
  status: "success" | "error";
};

export const openLog = (directory: string, functionName: string): FunctionLog => {
  const descriptor = openSync(join(directory, `${functionName}.log`), "a", 0o600);
  const write = (type: string, record: object): void => {
    writeSync(descriptor, `${JSON.stringify({ time: new Date().toISOString(), type, record })}\n`);
  };
  return {
    descriptor,
    started: (requestId) => write("platform.start", { requestId, version: "$LATEST" }),
    reported: (requestId, { durationMilliseconds, memoryMegabytes, initMilliseconds, status }) => {
      const metrics = {
        durationMs: durationMilliseconds,
        memorySizeMB: memoryMegabytes,
        initDurationMs: initMilliseconds,
      };
      write("platform.report", { requestId, metrics, status });
    },
    failed: (requestId, error) => {
      const line = `${new Date().toISOString()}\t${requestId}\tERROR\tInvoke Error\t${JSON.stringify(error)}\n`;
      writeSync(descriptor, line);
    },
    close: () => closeSync(descriptor),
  };
};
