import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  DeleteScheduleCommand,
  GetScheduleCommand,
  SchedulerClient,
} from "@aws-sdk/client-scheduler";
import { afterAll, describe, test } from "vitest";
import { startScheduler } from "../../../local/scheduler/scheduler.ts";
import { clientOf, openTemplate } from "../template.ts";

const closing: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const close of closing.splice(0).reverse()) {
    await close();
  }
});

const functionArn = "arn:aws:lambda:us-east-1:000000000000:function:test-Worker";
const queueArn = "arn:aws:sqs:us-east-1:000000000000:test-Queue";
const roleArn = "arn:aws:iam::000000000000:role/test-Role";
const mayInvoke = {
  Statement: [{ Effect: "Allow", Action: "lambda:InvokeFunction", Resource: functionArn }],
};
const off = { Mode: "OFF" } as const;

type Firing = {
  at: number;
  target: string;
  input: unknown;
};

const start = async (
  options: {
    speed?: number;
    directory?: string;
    resources?: Record<string, unknown>;
    failTimes?: number;
  } = {},
) => {
  const firings: Firing[] = [];
  const reported: string[] = [];
  let failuresLeft = options.failTimes ?? 0;
  const scheduler = await startScheduler({
    assembly: openTemplate({
      Worker: { Type: "AWS::Lambda::Function", Properties: { Role: { "Fn::GetAtt": ["Role", "Arn"] } } },
      Role: { Type: "AWS::IAM::Role", Properties: { Policies: [{ PolicyDocument: mayInvoke }] } },
      ...options.resources,
    }),
    lambda: {
      invoke: async (target, input) => {
        firings.push({ at: Date.now(), target, input });
        failuresLeft -= 1;
        return failuresLeft >= 0
          ? { functionError: "Unhandled", payload: { errorType: "Error", errorMessage: "broken" } }
          : { payload: null };
      },
    },
    speed: options.speed ?? 1,
    directory: options.directory,
    report: (line) => reported.push(line),
  });
  let isClosed = false;
  const close = async () => {
    if (!isClosed) {
      isClosed = true;
      await scheduler.close();
    }
  };
  closing.push(close);
  scheduler.begin();
  const client = new SchedulerClient(clientOf(scheduler.endpoint));
  closing.push(async () => client.destroy());
  return {
    client,
    firings,
    reported,
    close,
    create: (input: Partial<CreateScheduleCommandInput> & { ScheduleExpression: string }) =>
      client.send(
        new CreateScheduleCommand({
          Name: "one",
          FlexibleTimeWindow: off,
          Target: { Arn: functionArn, RoleArn: roleArn, Input: '{"hello":1}' },
          ...input,
        }),
      ),
  };
};

/** Fires at once, and not again while a test runs. */
const once = "rate(1 day)";
const inSeconds = (seconds: number): Date => new Date(Date.now() + seconds * 1000);

const makeDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "scheduler-"));
  closing.push(() => rm(directory, { recursive: true }));
  return directory;
};

describe.concurrent("the API", () => {
  test("refuses as AWS does", async ({ expect }) => {
    const { client, create } = await start();
    await create({ ScheduleExpression: "rate(1 day)" });
    await expect(create({ ScheduleExpression: "rate(1 day)" })).rejects.toMatchObject({
      name: "ConflictException",
    });
    await expect(client.send(new DeleteScheduleCommand({ Name: "unknown" }))).rejects.toMatchObject({
      name: "ResourceNotFoundException",
    });
    for (const wrong of [
      { ScheduleExpression: "every day" },
      { ScheduleExpression: "rate(0 minutes)" },
      { ScheduleExpression: "rate(1.5 hours)" },
      { ScheduleExpression: "cron(0 9 * * ? *)" },
      { ScheduleExpression: "rate(1 day)", EndDate: inSeconds(60) },
      { ScheduleExpression: "rate(1 day)", Target: { Arn: queueArn, RoleArn: roleArn } },
      { ScheduleExpression: "rate(1 day)", ScheduleExpressionTimezone: "Europe/Berlin" },
    ]) {
      await expect(create({ Name: "new", ...wrong })).rejects.toMatchObject({ name: "ValidationException" });
    }
  });
});

describe.concurrent("firing", () => {
  test("a schedule fires at its start with its input, and not before", async ({ expect }) => {
    const { firings, create } = await start({ speed: 3600 });
    const createdAt = Date.now();
    await create({ ScheduleExpression: once, StartDate: inSeconds(3600) });
    await expect.poll(() => firings.length).toBe(1);
    expect((firings[0]?.at ?? 0) - createdAt).toBeGreaterThan(950);
    expect(firings[0]?.input).toEqual({ hello: 1 });
  });

  test("retries a failed function after 1 and 2 minutes, unless told not to", async ({ expect }) => {
    const failing = { failTimes: 9, speed: 200 };
    const setting = { FunctionName: { Ref: "Worker" }, Qualifier: "$LATEST", MaximumRetryAttempts: 0 };
    const settings = { Settings: { Type: "AWS::Lambda::EventInvokeConfig", Properties: setting } };
    const [usual, untried] = [await start(failing), await start({ ...failing, resources: settings })];
    for (const { create } of [usual, untried]) await create({ ScheduleExpression: once });
    await expect.poll(() => usual.firings.length).toBe(3);
    await expect.poll(() => untried.reported.join()).toContain("broken");
    // Longer than the longest time between two tries.
    await new Promise((resolve) => setTimeout(resolve, 800));
    expect([usual.firings.length, untried.firings.length]).toEqual([3, 1]);
  });

  test("a target that the role does not allow is not reached, which is reported", async ({ expect }) => {
    const { firings, reported, create } = await start();
    const Arn = `${functionArn}-other`;
    await create({ ScheduleExpression: once, Target: { Arn, RoleArn: roleArn } });
    await expect.poll(() => reported.length).toBe(1);
    expect(reported[0]).toContain(`role ${roleArn} does not allow lambda:InvokeFunction on ${Arn}`);
    expect(firings).toEqual([]);
  });
});

describe.concurrent("a restart", () => {
  test("keeps schedules made by the API, and fires once for what it missed", async ({ expect }) => {
    const directory = await makeDirectory();
    const first = await start({ directory });
    await first.create({
      Name: "done",
      ScheduleExpression: once,
      Target: { Arn: functionArn, RoleArn: roleArn, Input: '"done"' },
    });
    await first.create({
      Name: "missed",
      ScheduleExpression: once,
      StartDate: inSeconds(600),
      Target: { Arn: functionArn, RoleArn: roleArn, Input: '"missed"' },
    });
    await first.create({
      Name: "gone",
      ScheduleExpression: "rate(1 day)",
      StartDate: new Date("2040-01-01"),
    });
    await first.client.send(new DeleteScheduleCommand({ Name: "gone" }));
    await expect.poll(() => first.firings.map(({ input }) => input)).toEqual(["done"]);
    await first.close();
    expect(JSON.parse(await readFile(join(directory, "schedules.json"), "utf8"))).toHaveLength(2);

    // At this speed ten minutes have passed since then; a day has not.
    const second = await start({ directory, speed: 3_600 });
    await expect.poll(() => second.firings.map(({ input }) => input)).toEqual(["missed"]);
    const found = (Name: string) => second.client.send(new GetScheduleCommand({ Name }));
    expect(await Promise.all(["done", "missed"].map(found))).toMatchObject([
      { Name: "done" },
      { Name: "missed" },
    ]);
    await expect(found("gone")).rejects.toMatchObject({ name: "ResourceNotFoundException" });
  });

  test("with a broken file of schedules fails and says what to do", async ({ expect }) => {
    const directory = await makeDirectory();
    const file = join(directory, "schedules.json");
    for (const text of ["[{", "{}", "[{}]"]) {
      await writeFile(file, text);
      await expect(start({ directory })).rejects.toThrow(
        new RegExp(`^${file} can't be read \\(.*: restore it, or choose other data with --data DIR\\.$`),
      );
    }
  });

  test("with a lower speed lets a recurring schedule go on from now", async ({ expect }) => {
    const directory = await makeDirectory();
    const fast = await start({ directory, speed: 36_000 });
    await fast.create({ ScheduleExpression: "rate(1 hour)" });
    await expect.poll(() => fast.firings.length).toBeGreaterThan(3);
    await fast.close();
    const slower = await start({ directory, speed: 7200 });
    await expect.poll(() => slower.firings.length).toBeGreaterThan(1);
  });
});
