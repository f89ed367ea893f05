/** A stack on MiniStack: its command lines, and requests to its API. */
import { ok, strictEqual } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { adaptToMinistack } from "./adapt.ts";
import { end, type Ministack } from "./ministack.ts";

const project = join(import.meta.dirname, "..", "..");

/**
 * Environment variables of the command lines. The CDK's validation takes most of a synthesis, and
 * `npm run synth` does it already.
 */
const settings = { CDK_DISABLE_CLI_TELEMETRY: "true", CDK_VALIDATION: "false" };

export type Answer = {
  status: number | undefined;
  headers: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: every endpoint has its own
  body: any;
};

/** Sends requests of one API key, which must succeed, and gives the bodies of the answers. */
export type Caller = (method: string, path: string, body?: unknown) => Promise<Answer["body"]>;

type SetupRun = {
  args?: readonly string[];
  /** On standard input. */
  key?: string;
  until?: string;
  type?: readonly { asked: string; answer: string }[];
};

export class Deployment {
  readonly #ministack: Ministack;
  readonly #stage: string;
  readonly stackName: string;
  /** Of the stack, after a deployment. */
  outputs: Record<string, string> = {};

  constructor(ministack: Ministack, stage: string) {
    this.#ministack = ministack;
    this.#stage = stage;
    this.stackName = `breach-monitor-${stage}`;
  }

  /**
   * Runs setup, from the sources without an assembly, and gives what it printed. With `until` it ends
   * together with what it started, a moment after it has printed that. `type`: the words to type at a
   * terminal, each after it was asked for.
   */
  async setup(assembly: string | undefined, { args = [], key, until, type }: SetupRun): Promise<string> {
    const command = [
      process.execPath,
      join(project, "bin", "setup.ts"),
      ...(assembly === undefined ? [] : ["--app", assembly]),
      "--stage",
      this.#stage,
      ...args,
    ];
    // `script` gives it a terminal, which has no width of its own.
    const [program = "", ...words] =
      type === undefined
        ? command
        : ["script", "-qfec", `stty columns 120 rows 40; ${command.join(" ")}`, "/dev/null"];
    const child = spawn(program, words, {
      cwd: project,
      // A process group of its own.
      detached: true,
      env: {
        ...process.env,
        ...this.#ministack.variables,
        ...settings,
        // In place of the app that cdk.json names.
        ...(assembly === undefined && {
          CDK_APP: `${process.execPath} ${join(import.meta.dirname, "app.ts")}`,
        }),
      },
      stdio: "pipe",
    });
    // It may end without having read.
    child.stdin.on("error", () => {});
    if (type === undefined) child.stdin.end(key);
    const answers = [...(type ?? [])];
    let printed = "";
    let seen = 0;
    let isEnding = false;
    const read = (chunk: Buffer): void => {
      printed += chunk;
      const [next] = answers;
      if (next !== undefined && printed.slice(seen).includes(next.asked)) {
        seen = printed.length;
        answers.shift();
        child.stdin.write(`${next.answer}\r`);
      }
      if (until === undefined || isEnding || !printed.includes(until)) return;
      isEnding = true;
      setTimeout(Math.random() * 400).then(() => end(child));
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    const [status] = await once(child, "close");
    ok(isEnding || status === 0, `setup ${args.join(" ")}\n${printed}`);
    return printed;
  }

  /** Synthesizes these sources into a folder. */
  async synthesize(assembly: string, context: Record<string, string>): Promise<void> {
    const given = Object.entries({ stage: this.#stage, ...context }).flatMap(([name, value]) => [
      ...["--context", `${name}=${value}`],
    ]);
    await this.#cdk(["synth", "--quiet", "--output", assembly, ...given]);
    adaptToMinistack(assembly);
  }

  /** Makes the release, checks its checksum, unpacks it in a folder, and gives the assembly in it. */
  async unpackRelease(directory: string): Promise<string> {
    const release = join(project, "release");
    await this.#run(process.execPath, [join(project, "bin", "release.ts"), "-c", `stage=${this.#stage}`]);
    const [archive = "", checksum = ""] = readdirSync(release).filter((name) => name.includes(".tgz"));
    await this.#run("sha256sum", ["--check", checksum], release);
    await this.#run("tar", ["-xzf", join(release, archive), "-C", directory]);
    const assembly = join(directory, archive.replace(/\.tgz$/, ""), "assembly");
    adaptToMinistack(assembly);
    return assembly;
  }

  async deploy(assembly: string): Promise<void> {
    await this.#cdk(["deploy", "--app", assembly, "--require-approval", "never"]);
    await this.readOutputs();
  }

  /** Modules that read the table find its name in TABLE_NAME. */
  async readOutputs(): Promise<void> {
    const command = new DescribeStacksCommand({ StackName: this.stackName });
    const [stack] = (await new CloudFormationClient().send(command)).Stacks ?? [];
    this.outputs = Object.fromEntries(
      (stack?.Outputs ?? []).map(({ OutputKey = "", OutputValue = "" }) => [OutputKey, OutputValue]),
    );
    process.env.TABLE_NAME = this.outputs.TableName;
  }

  async destroy(assembly: string): Promise<void> {
    await this.#cdk(["destroy", "--app", assembly, "--force"]);
  }

  /** Runs the admin command line on the stack. */
  async admin(...args: string[]): Promise<Answer["body"]> {
    const script = join(project, "bin", "admin.ts");
    return JSON.parse(
      await this.#run(process.execPath, [script, ...args, "--stack", this.stackName, "--json"]),
    );
  }

  /** The API for clients that cannot choose the Host header. */
  get baseUrl(): string {
    const id = new URL(this.outputs.ApiUrl ?? "").host.split(".")[0];
    return `http://127.0.0.1:${this.#ministack.port}/_aws/execute-api/${id}/api`;
  }

  /** Sends a request to the API, which MiniStack recognizes by the Host header. */
  async call(
    method: string,
    path: string,
    { key, body }: { key?: string; body?: unknown } = {},
  ): Promise<Answer> {
    const { port } = this.#ministack;
    const outgoing = request({
      host: "127.0.0.1",
      port,
      method,
      path: `/api/v1${path}`,
      headers: {
        Host: `${new URL(this.outputs.ApiUrl ?? "").host.split(".")[0]}.execute-api.127.0.0.1:${port}`,
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
        ...(body !== undefined && { "Content-Type": "application/json" }),
      },
      timeout: 60_000,
    });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = await once(outgoing, "response");
    let text = "";
    for await (const chunk of response) text += chunk;
    return { status: response.statusCode, headers: response.headers, body: JSON.parse(text) };
  }

  callerOf(key: string): Caller {
    return async (method, path, body) => {
      const answer = await this.call(method, path, { key, ...(body !== undefined && { body }) });
      const isSuccess = (answer.status ?? 500) < 300;
      ok(isSuccess, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
      return answer.body;
    };
  }

  /** Invokes a function as EventBridge Scheduler does, which does not wait for it. */
  async invokeAsSchedule(name: string): Promise<void> {
    const { AWS_ENDPOINT_URL } = this.#ministack.variables;
    const url = `${AWS_ENDPOINT_URL}/2015-03-31/functions/${this.stackName}-${name}/invocations`;
    const credential = "Credential=test/20260101/us-east-1/lambda/aws4_request";
    const reply = await fetch(url, {
      method: "POST",
      headers: {
        "X-Amz-Invocation-Type": "Event",
        // MiniStack looks at the name of the service only.
        Authorization: `AWS4-HMAC-SHA256 ${credential}, SignedHeaders=host, Signature=0`,
      },
      body: "{}",
    });
    strictEqual(reply.status, 202);
  }

  async #cdk(args: readonly string[]): Promise<void> {
    const script = join(project, "node_modules", "aws-cdk", "bin", "cdk");
    await this.#run(process.execPath, [script, ...args, "--no-notices", "--ci", "--progress", "events"]);
  }

  /** Runs a program and gives its standard output. An error holds all output. */
  async #run(program: string, args: readonly string[], cwd = project): Promise<string> {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...this.#ministack.variables, ...settings },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    let failure = "";
    child.stdout.on("data", (chunk) => {
      printed += chunk;
    });
    child.stderr.on("data", (chunk) => {
      failure += chunk;
    });
    const [status] = await once(child, "close");
    if (status !== 0) throw new Error(`${program} ${args.join(" ")}\n${printed}\n${failure}`);
    return printed;
  }
}
