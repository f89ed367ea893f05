import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestProject } from "vitest/node";
import { assemblyPath } from "../../local/data-directory.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Of the running local service: where its API is, such as http://127.0.0.1:3000/api/v1. */
    apiUrl: string;
    /** Where alerts can be received (receiver.ts). */
    receiverUrl: string;
    /** The assembly that the service runs, for further services of the same sources. */
    assembly: string;
  }
}

const project = join(import.meta.dirname, "../..");

/** A local service, as `npm start` runs it. */
export type LocalService = {
  apiUrl: string;
  port: number;
  /** What it printed so far. */
  output: () => string;
  process: ChildProcess;
  /** Ends it as Ctrl-C does. */
  stop: () => Promise<void>;
};

const readyWithinMilliseconds = 60_000;

/**
 * Starts a local service with these options on a free port (unless they name one) and waits until it is ready. `parts`:
 * AWS_ENDPOINT_URL_* of parts to replace, and other variables. `assembly`: a synthesized stack to run; undefined: it synthesizes one.
 */
export const startService = async (
  options: readonly string[],
  parts: Record<string, string> = {},
  assembly?: string,
): Promise<LocalService> => {
  const port = options.includes("--port") ? [] : ["--port", "0"];
  const child = spawn(process.execPath, [join(project, "local/start.ts"), "--no-demo", ...port, ...options], {
    cwd: project,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...withoutAwsVariables(),
      ...parts,
      ...(assembly !== undefined && { CLOUD_ASSEMBLY: assembly }),
    },
  });
  const lines: string[] = [];
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const apiUrl = await new Promise<string>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`The local service ${why}:\n${lines.join("\n")}`));
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      fail("was not ready in time");
    }, readyWithinMilliseconds);
    child.once("exit", () => {
      clearTimeout(timer);
      fail("ended");
    });
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        lines.push(line);
        const [, url] = /^ready (\S+)$/.exec(line) ?? [];
        if (url === undefined) return;
        clearTimeout(timer);
        resolve(url);
      });
    }
  });
  return {
    apiUrl,
    port: Number(new URL(apiUrl).port),
    output: () => lines.join("\n"),
    process: child,
    stop: async () => {
      child.kill("SIGINT");
      await ended;
    },
  };
};

/** Neither the machine's AWS settings nor those of another local service may reach this one. */
const withoutAwsVariables = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(AWS_|npm_lifecycle_event$)/.test(name)),
  );

/** vitest's global set-up: one service and one receiver for all test files. */
export default async function setUp({ provide }: TestProject): Promise<() => Promise<void>> {
  const receiver: Receiver = await startReceiver();
  const service = await startService(["--memory", "--allow-origin", receiver.url], {
    LOCAL_KEPT_MEGABYTES: "65536",
  });
  const information = await fetch(new URL("/.local/stack", service.apiUrl));
  const { dataDirectory } = (await information.json()) as { dataDirectory: string };
  provide("apiUrl", service.apiUrl);
  provide("receiverUrl", receiver.url);
  provide("assembly", assemblyPath(dataDirectory));
  return async () => {
    await service.stop();
    await receiver.close();
  };
}
