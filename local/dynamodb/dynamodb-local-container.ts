/** DynamoDB Local in a container, from the image that AWS publishes. */
import { execFile, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { promisify } from "node:util";
import type { EngineProgram } from "./engine.ts";

const image = "amazon/dynamodb-local";
const askTimeoutMilliseconds = 10_000;

/** Ends the engine when the pipe to its standard input is closed, so that no container outlives this process. */
const script = 'java -jar DynamoDBLocal.jar -sharedDb -disableTelemetry "$@" & cat > /dev/null; kill $!';

export const findDocker = async (): Promise<EngineProgram | undefined> => {
  try {
    const options = { timeout: askTimeoutMilliseconds };
    // Without a daemon, the command line alone answers with an error.
    await promisify(execFile)("docker", ["version", "--format", "{{.Server.Version}}"], options);
  } catch {
    return undefined;
  }
  return {
    file: "dynamodb-local",
    // The first time, Docker fetches the image.
    startTimeoutMilliseconds: 600_000,
    spawn: (port, file) =>
      spawn("docker", runOptions(port, file), { stdio: ["pipe", "ignore", "ignore"], detached: true }),
  };
};

const runOptions = (port: number, file: string | undefined): string[] => {
  if (file !== undefined) mkdirSync(file, { recursive: true });
  const owner = `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`;
  return [
    ...["run", "--rm", "--interactive", "--init", "--publish", `127.0.0.1:${port}:8000`],
    ...(file === undefined ? [] : ["--volume", `${file}:/data`, "--user", owner]),
    ...["--entrypoint", "sh", image, "-c", script, "sh"],
    ...(file === undefined ? ["-inMemory"] : ["-dbPath", "/data"]),
  ];
};
