/** MiniStack, an emulation of AWS, which listens on 127.0.0.1 only and ends with its caller. */
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, readFileSync } from "node:fs";
import { join } from "node:path";
import { findFreePort } from "../../local/loopback.ts";

const secondsToStart = 60;

export type Ministack = {
  port: number;
  /** With these the SDK and the command lines of AWS use it. */
  variables: Record<string, string>;
  /** What it printed, the end of it. */
  log: () => string;
  end: () => void;
};

/** `functionVariables`: what all of its functions get besides the template's variables. */
export async function startMinistack(
  executable: string,
  directory: string,
  functionVariables: Record<string, string>,
): Promise<Ministack> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const variables = {
    AWS_ENDPOINT_URL: url,
    AWS_ENDPOINT_URL_S3: url,
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: "us-east-1",
    AWS_DEFAULT_REGION: "us-east-1",
    // The developer's own AWS configuration is not used.
    AWS_CONFIG_FILE: "/dev/null",
    AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
    AWS_EC2_METADATA_DISABLED: "true",
  };
  const logFile = join(directory, "ministack.log");
  // A process group of its own, so that its functions can be ended with it.
  const child = spawn(executable, [], {
    cwd: directory,
    detached: true,
    env: {
      ...process.env,
      ...variables,
      GATEWAY_PORT: String(port),
      MINISTACK_HOST: "127.0.0.1",
      BIND_HOST: "127.0.0.1",
      IOT_MTLS_ENABLED: "0",
      STATE_DIR: join(directory, "state"),
      S3_DATA_DIR: join(directory, "s3"),
      TMPDIR: directory,
      ...functionVariables,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = createWriteStream(logFile);
  child.stdout?.pipe(log);
  child.stderr?.pipe(log);
  await untilListening(url, child);
  return {
    port,
    variables,
    log: () => readFileSync(logFile, "utf8").slice(-6000),
    end: () => end(child),
  };
}

/** Ends a process and those that it has started. It must have a process group of its own. */
export function end({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The process has ended already.
  }
}

async function untilListening(url: string, child: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + secondsToStart * 1000; Date.now() < deadline; ) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answered) return;
    if (child.exitCode !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  end(child);
  throw new Error(`MiniStack did not start within ${secondsToStart} s`);
}
