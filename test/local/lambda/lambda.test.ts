import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { maximumInstances } from "../../../local/lambda/definition.ts";
import { idleSeconds } from "../../../local/lambda/function.ts";
import { type Lambda, openLambda } from "../../../local/lambda/lambda.ts";
import { openAssembly } from "../../../local/template/assembly.ts";
import { functionsOf, writeAssembly } from "../template.ts";

const directory = mkdtempSync(join(tmpdir(), "lambda-test-"));
const logDirectory = join(directory, "logs");
const opened: Lambda[] = [];

afterAll(async () => {
  await Promise.all(opened.map((lambda) => lambda.close()));
  rmSync(directory, { recursive: true });
});

const arnOf = (name: string) => `arn:aws:lambda:us-east-1:000000000000:function:test-${name}`;

/** Opens functions with the given sources, by name. */
const functions = (
  sources: Record<string, string>,
  properties: Record<string, unknown> = {},
  speed = 1,
): Lambda => {
  const assembly = writeAssembly(functionsOf(sources, properties), sources);
  const lambda = openLambda({
    assembly: openAssembly(assembly, { region: "us-east-1", accountId: "000000000000" }),
    logDirectory,
    variables: (functionName) => ({ AWS_ACCESS_KEY_ID: `local-${functionName}` }),
    speed,
  });
  opened.push(lambda);
  return lambda;
};

/** Whether a process is running. */
const isRunning = (processId: number): boolean => {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
};

describe("an invocation", () => {
  test("gets the event, the context and only its own environment", async () => {
    process.env.PARENT_SECRET = "must not leak";
    const lambda = functions(
      {
        Echo: `export const handler = async (event, context) => ({
          event,
          context: { ...context, remaining: context.getRemainingTimeInMillis() },
          env: { ...process.env },
        });`,
      },
      {
        MemorySize: 256,
        Environment: { Variables: { STACK: { Ref: "AWS::Region" }, SWEEP_INTERVAL_SECONDS: "60" } },
      },
      10,
    );
    const result = await lambda.invoke(arnOf("Echo"), { at: new Date(0), gone: undefined });
    expect(result).toMatchObject({
      payload: {
        event: { at: "1970-01-01T00:00:00.000Z" },
        context: {
          functionName: "test-Echo",
          functionVersion: "$LATEST",
          invokedFunctionArn: arnOf("Echo"),
          memoryLimitInMB: "256",
          awsRequestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          remaining: expect.toSatisfy((value: number) => value > 0 && value <= 5000),
        },
        env: {
          STACK: "us-east-1",
          SWEEP_INTERVAL_SECONDS: "6",
          AWS_REGION: "us-east-1",
          AWS_ACCESS_KEY_ID: "local-test-Echo",
        },
      },
    });
    const { payload } = result as { payload: { env: object } };
    for (const name of ["PARENT_SECRET", "PATH", "HOME"]) expect(payload.env).not.toHaveProperty(name);
  });

  test("has its own instance; at most one per core (two to four) is kept", async () => {
    const lambda = functions({
      // No instance answers before all have started, however slow their start is.
      Busy: `import { readdirSync, writeFileSync } from "node:fs";
        import { setTimeout } from "node:timers/promises";
        let served = 0, running = 0;
        const id = crypto.randomUUID();
        writeFileSync(import.meta.dirname + "/started-" + id, "");
        const started = () => readdirSync(import.meta.dirname).filter((name) => name.startsWith("started-"));
        export const handler = async () => {
          running += 1; served += 1;
          const overlap = running > 1;
          do await setTimeout(20); while (started().length < ${maximumInstances});
          running -= 1;
          return { id, served, overlap };
        };`,
    });
    const results = await Promise.all(Array.from({ length: 40 }, () => lambda.invoke(arnOf("Busy"), {})));
    const payloads = results.map(({ payload }) => payload as { id: string; overlap: boolean });
    expect(payloads.every(({ overlap }) => overlap === false)).toBe(true);
    expect(new Set(payloads.map(({ id }) => id)).size).toBe(maximumInstances);
    const later = await lambda.invoke(arnOf("Busy"), {});
    expect(payloads.map(({ id }) => id)).toContain((later.payload as { id: string }).id);
  });

  test("ends its instance when that has been idle for two minutes", async () => {
    const lambda = functions({ Idle: "export const handler = async () => process.pid;" });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { payload: id } = (await lambda.invoke(arnOf("Idle"), {})) as { payload: number };
    vi.advanceTimersByTime((idleSeconds - 1) * 1000);
    expect(isRunning(id)).toBe(true);
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    await expect.poll(() => isRunning(id)).toBe(false);
  });
});

describe("a failure", () => {
  test("of a handler is answered with its name and message, and logged", async () => {
    const lambda = functions({
      Throws: `export const handler = async () => { console.log("about to fail"); throw new TypeError("no good"); };`,
    });
    const result = await lambda.invoke(arnOf("Throws"), {});
    expect(result).toMatchObject({
      functionError: "Unhandled",
      payload: { errorType: "TypeError", errorMessage: "no good" },
    });
    await expect
      .poll(() => readFileSync(join(logDirectory, "test-Throws.log"), "utf8"))
      .toMatch(/about to fail\n.*Invoke Error.*no good/);
  });

  test("by timeout discards the instance", async () => {
    const lambda = functions(
      {
        Slow: `const id = crypto.randomUUID(); export const handler = async (event) => {
          if (event.hang) for (;;) {} return id; };`,
      },
      { Timeout: 1 },
    );
    const before = await lambda.invoke(arnOf("Slow"), {});
    const hung = await lambda.invoke(arnOf("Slow"), { hang: true });
    expect(hung).toMatchObject({
      functionError: "Unhandled",
      payload: {
        errorType: "Sandbox.Timedout",
        errorMessage: expect.stringMatching(/Task timed out after 1\.00 seconds$/),
      },
    });
    const after = await lambda.invoke(arnOf("Slow"), {});
    expect(after).toEqual({ payload: expect.any(String) });
    expect(after.payload).not.toBe(before.payload);
  });

  test("of one instance disturbs no other instance and no other function", async () => {
    const lambda = functions({
      Exits: `export const handler = async (event) => {
        if (event.how === "exit") process.exit(3);
        if (event.how === "reject") Promise.reject(new RangeError("left behind"));
        if (event.how === "throw") setTimeout(() => { throw new SyntaxError("later"); }, 1);
        await new Promise((resolve) => setTimeout(resolve, 200));
        return "fine";
      };`,
      Other: `export const handler = async () => { await new Promise((r) => setTimeout(r, 300)); return "fine"; };`,
    });
    const other = lambda.invoke(arnOf("Other"), {});
    const [fine, exited, rejected, thrown] = await Promise.all(
      ["", "exit", "reject", "throw"].map((how) => lambda.invoke(arnOf("Exits"), { how })),
    );
    expect(fine).toEqual({ payload: "fine" });
    expect(exited).toMatchObject({
      payload: { errorType: "Runtime.ExitError", errorMessage: expect.stringContaining("exit status 3") },
    });
    expect(rejected).toMatchObject({ payload: { errorType: "RangeError", errorMessage: "left behind" } });
    expect(thrown).toMatchObject({ payload: { errorType: "SyntaxError", errorMessage: "later" } });
    expect(await other).toEqual({ payload: "fine" });
    expect(await lambda.invoke(arnOf("Exits"), {})).toEqual({ payload: "fine" });
  });

  test("by lack of memory ends only that instance", async () => {
    const lambda = functions(
      {
        Hoards: `export const handler = async (event) => {
        const kept = []; while (event.hoard) kept.push(new Array(1000).fill(kept.length)); return "fine"; };`,
      },
      { MemorySize: 128, Timeout: 20 },
    );
    expect(await lambda.invoke(arnOf("Hoards"), { hoard: true })).toMatchObject({
      functionError: "Unhandled",
      payload: { errorType: "Runtime.ExitError" },
    });
    expect(await lambda.invoke(arnOf("Hoards"), {})).toEqual({ payload: "fine" });
  });

  test("of initialization fails each invocation that waits for an instance", async () => {
    const lambda = functions({
      Broken: `throw new Error("TABLE_NAME is missing"); export const handler = async () => {};`,
      Nameless: "export const other = 1;",
    });
    const results = await Promise.all([1, 2, 3].map(() => lambda.invoke(arnOf("Broken"), {})));
    for (const result of results) {
      expect(result).toMatchObject({
        payload: { errorType: "Error", errorMessage: "TABLE_NAME is missing" },
      });
    }
    expect(await lambda.invoke(arnOf("Nameless"), {})).toMatchObject({
      payload: { errorType: "Runtime.HandlerNotFound" },
    });
  });

  test("is the answer of an invocation that still runs when the runtime closes", async () => {
    const lambda = functions({ Endless: "export const handler = () => new Promise(() => {});" });
    const running = lambda.invoke(arnOf("Endless"), {});
    await lambda.close();
    expect(await running).toMatchObject({ payload: { errorType: "Runtime.ExitError" } });
    await expect(lambda.invoke(arnOf("Endless"), {})).rejects.toThrow("ended");
  });
});
