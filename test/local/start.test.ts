import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { usage } from "../../local/command-line.ts";
import type { StackInformation } from "../../local/stack-information.ts";
import { writeAssembly } from "./template.ts";

const entry = join(import.meta.dirname, "../../local/start.ts");

/** A small stack. The service that other tests share is synthesized by `npm start`. */
const assembly = writeAssembly({
  Api: { Type: "AWS::ApiGateway::RestApi", Properties: { Body: { paths: {} } } },
  Stage: { Type: "AWS::ApiGateway::Stage", Properties: { StageName: "api" } },
});

const start = (...args: string[]): ChildProcessByStdio<null, Readable, Readable> => {
  const { npm_lifecycle_event: _event, ...others } = process.env;
  const env = { ...others, CLOUD_ASSEMBLY: assembly };
  // 022 is the umask of most people's shells.
  const script = 'umask 022; exec "$@"';
  return spawn("/bin/sh", ["-c", script, "sh", process.execPath, entry, ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
};

const runToEnd = async (...args: string[]) => {
  const run = start(...args);
  let errors = "";
  let output = "";
  run.stdout.on("data", (chunk) => {
    output += chunk;
  });
  run.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const [status] = await once(run, "close");
  return { status, output, errors };
};

test("--help prints the usage, starts nothing and exits with 0", async () => {
  const { status, output, errors } = await runToEnd("--port", "x", "--help");
  expect({ status, output, errors }).toEqual({ status: 0, output: usage, errors: "" });
});

describe.concurrent("a failed start", () => {
  test("a port in use", async ({ expect }) => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    const { status, errors } = await runToEnd("--memory", "--port", String(port));
    taken.close();
    expect(status).toBe(1);
    expect(errors).toBe(
      `Port ${port} is in use: stop what uses it, or choose another with --port N (0 takes a free one).\n`,
    );
  });
});

describe("a run", () => {
  let run: ReturnType<typeof start>;
  let output = "";
  let url = "";
  /** A person's own directory, which others may read. */
  const directory = mkdtempSync(join(tmpdir(), "start-"));
  chmodSync(directory, 0o755);

  beforeAll(async () => {
    run = start("--data", directory, "--port", "0", "--no-demo");
    run.stdout.on("data", (chunk) => {
      output += chunk;
    });
    run.stderr.on("data", (chunk) => {
      output += chunk;
    });
    url = await vi.waitFor(() => /^ready (.*)\n/m.exec(output)?.[1] ?? expect.fail(output), {
      timeout: 170_000,
    });
  });

  afterAll(() => {
    run.kill("SIGKILL");
  });

  test("prints where it accepts requests, and answers them there", async () => {
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/v1$/);
    const reply = await request(`${url}/emails`);
    expect(reply.statusCode).toBe(403);
    expect(await reply.body.json()).toEqual({ message: "Missing Authentication Token" });
    expect(output).not.toContain("failed");
  });

  test("makes its files unreadable for other users, even in a readable directory", () => {
    const files = readdirSync(directory, { recursive: true, encoding: "utf8" });
    expect(files).toEqual(expect.arrayContaining(["lock", expect.stringMatching(/^dynamodb/)]));
    // A journal of the database can be gone by now.
    const modeOf = (file: string) => statSync(join(directory, file), { throwIfNoEntry: false })?.mode ?? 0;
    expect(files.filter((file) => (modeOf(file) & 0o077) !== 0)).toEqual([]);
  });

  test("tells programs on this machine, but no web page, how to reach its parts", async () => {
    const address = new URL("/.local/stack", url).href;
    const reply = await request(address);
    const information = (await reply.body.json()) as StackInformation;
    expect(information.stackName).toBe("test");
    expect(information.environment.AWS_ACCESS_KEY_ID).toBe("local-admin");
    for (const headers of [
      { host: "rebound.example" },
      { origin: "http://evil.example" },
      { origin: new URL(url).origin },
      { "sec-fetch-site": "cross-site" },
    ]) {
      const refused = await request(address, { headers: headers as Record<string, string> });
      await refused.body.dump();
      expect(refused.statusCode).toBe(403);
    }
  });

  test("ends on SIGTERM with all that it started, with status 0", async () => {
    const { body } = await request(new URL("/.local/stack", url).href);
    const { environment } = (await body.json()) as StackInformation;
    run.kill("SIGTERM");
    const [status] = await once(run, "exit");
    expect(status).toBe(0);
    for (const address of [url, environment.AWS_ENDPOINT_URL_DYNAMODB ?? ""]) {
      await expect(request(address)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    }
  });
});
