import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";

const project = join(import.meta.dirname, "../..");

/** A running local service. */
export type LocalService = {
  apiUrl: string;
  port: number;
  /** What the service has printed so far. */
  output: () => string;
  process: ChildProcess;
  /** Ends the service as Ctrl-C does. */
  stop: () => Promise<void>;
};

const readyWithinMilliseconds = 300_000;

/**
 * Starts a local service as `npm start` does, and waits until it is ready. The port is free unless the
 * options name one. `parts`: environment variables, such as AWS_ENDPOINT_URL_DYNAMODB for another engine.
 * `assembly`: the path of the cloud assembly to run; without it the service synthesizes one.
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

/** The environment without the AWS settings of this machine or of another local service. */
const withoutAwsVariables = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(AWS_|npm_lifecycle_event$)/.test(name)),
  );
