import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Assembly } from "./assembly.ts";
import { decide, statementsOf } from "./iam.ts";
import type { Lambda } from "./lambda.ts";
import { listenOnLoopback, type Reply } from "./loopback.ts";
import { parseScheduleExpression, type Recurrence } from "./schedule-expression.ts";
import type { Sqs } from "./sqs.ts";

export interface Scheduler {
  readonly endpoint: string;
  /** Starts firing. Before this, schedules can only be managed. */
  begin(): void;
  close(): Promise<void>;
}

interface Target {
  readonly Arn: string;
  readonly RoleArn: string;
  readonly Input?: string;
  readonly RetryPolicy?: { readonly MaximumRetryAttempts?: number };
}

/** What a client gives to CreateSchedule and UpdateSchedule. Dates are seconds since 1970, as in the API. */
interface Definition {
  readonly GroupName?: string;
  readonly ScheduleExpression: string;
  readonly ScheduleExpressionTimezone?: string;
  readonly StartDate?: number;
  readonly EndDate?: number;
  readonly Description?: string;
  readonly State?: "ENABLED" | "DISABLED";
  readonly KmsKeyArn?: string;
  readonly Target: Target;
  readonly FlexibleTimeWindow: {
    readonly Mode: "OFF" | "FLEXIBLE";
    readonly MaximumWindowInMinutes?: number;
  };
  readonly ActionAfterCompletion?: "NONE" | "DELETE";
}

/** A schedule as it is kept. Times are milliseconds since 1970. */
interface StoredSchedule {
  readonly name: string;
  readonly group: string;
  readonly definition: Definition;
  readonly createdAt: number;
  /** Also where the schedule's own, faster clock starts. */
  readonly modifiedAt: number;
  /** On the schedule's own clock: occurrences up to this one are done. */
  handledUntil: number;
}

interface Schedule extends StoredSchedule {
  readonly recurrence: Recurrence;
  /** The template's schedules begin anew with every run; only those made through the API are kept. */
  readonly isKept: boolean;
  timer: NodeJS.Timeout | undefined;
  firedAt: number;
  running: number;
}

const defaultGroup = "default";
/** Faster than this a schedule only burns the machine's few cores; occurrences in between are left out. */
const shortestIntervalMilliseconds = 250;
const maximumRunning = 4;
const retryDelaysMilliseconds = [1_000, 2_000];
/** Lambda's, when a function fails that was invoked asynchronously. */
const functionRetryDelaysMilliseconds = [60_000, 120_000];
/** setTimeout takes no more; a longer wait goes on in several steps. */
const longestTimerMilliseconds = 2 ** 31 - 1;
const saveDelayMilliseconds = 500;

/**
 * EventBridge Scheduler: its REST API on a free loopback port, the template's schedules, and their firing at Lambda functions
 * and SQS queues. Every schedule has a clock of its own that starts with its creation (or last update) and runs `speed`
 * times faster. A target is only reached if the schedule's role allows it. Occurrences missed while the service was down are
 * made up for by one. Expressions other than `rate()` and time zones other than UTC are refused.
 *
 * `directory` keeps the schedules that were made through the API; undefined: they end with the process.
 */
export async function startScheduler(settings: {
  readonly assembly: Assembly;
  readonly lambda: Pick<Lambda, "invoke">;
  readonly sqs: Pick<Sqs, "send">;
  readonly speed: number;
  readonly directory: string | undefined;
  readonly report?: (line: string) => void;
}): Promise<Scheduler> {
  const { assembly, lambda, sqs, speed } = settings;
  const report = settings.report ?? console.error;
  const file = settings.directory === undefined ? undefined : join(settings.directory, "schedules.json");
  const groups = new Set([
    defaultGroup,
    ...assembly
      .ofType("AWS::Scheduler::ScheduleGroup")
      .map(({ logicalId }) => assembly.physicalId(logicalId)),
  ]);
  const schedules = new Map<string, Schedule>();
  const answered = new Map<string, { readonly request: string; readonly reply: Reply }>();
  let isFiring = false;
  let saving: Promise<void> = Promise.resolve();
  let saveTimer: NodeJS.Timeout | undefined;

  for (const { logicalId, properties } of assembly.ofType("AWS::Scheduler::Schedule")) {
    put(assembly.physicalId(logicalId), readTemplateSchedule(properties), { isKept: false });
  }
  if (file !== undefined) {
    try {
      for (const stored of await readSchedules(file)) {
        put(stored.name, stored.definition, { isKept: true, stored });
      }
    } catch (error) {
      throw new Error(
        `${file} can't be read (${(error as Error).message}): restore it, or choose other data with --data DIR.`,
      );
    }
  }

  /** Checks, keeps and arms a schedule. @throws Refusal if the definition is not valid. */
  function put(
    name: string,
    definition: Definition,
    more: { readonly isKept: boolean; readonly createdAt?: number; readonly stored?: StoredSchedule },
  ): Schedule {
    const now = Date.now();
    const modifiedAt = more.stored?.modifiedAt ?? now;
    const group = definition.GroupName ?? defaultGroup;
    const recurrence = checkDefinition(name, definition, modifiedAt);
    const schedule: Schedule = {
      name,
      group,
      definition,
      createdAt: more.stored?.createdAt ?? more.createdAt ?? now,
      modifiedAt,
      handledUntil: more.stored?.handledUntil ?? modifiedAt - 1,
      recurrence,
      isKept: more.isKept,
      timer: undefined,
      firedAt: 0,
      running: 0,
    };
    // After a run with a higher speed what is done lies in this run's future.
    schedule.handledUntil = Math.min(schedule.handledUntil, ownTime(schedule, now));
    remove(schedules.get(keyOf(group, name)));
    schedules.set(keyOf(group, name), schedule);
    arm(schedule);
    return schedule;
  }

  function remove(schedule: Schedule | undefined): void {
    if (schedule !== undefined) {
      clearTimeout(schedule.timer);
      schedules.delete(keyOf(schedule.group, schedule.name));
    }
  }

  function ownTime({ modifiedAt }: StoredSchedule, now: number): number {
    return modifiedAt + (now - modifiedAt) * speed;
  }

  function arm(schedule: Schedule): void {
    clearTimeout(schedule.timer);
    const { definition, modifiedAt } = schedule;
    if (!isFiring || definition.State === "DISABLED") {
      return;
    }
    const occurrence = nextOccurrence(schedule);
    if (occurrence === undefined) {
      if (definition.ActionAfterCompletion === "DELETE") {
        remove(schedule);
        saveSoon();
      }
      return;
    }
    const windowMinutes = definition.FlexibleTimeWindow.MaximumWindowInMinutes ?? 0;
    const time = occurrence + Math.random() * windowMinutes * 60_000;
    const dueAt = Math.max(
      modifiedAt + (time - modifiedAt) / speed,
      schedule.firedAt + shortestIntervalMilliseconds,
    );
    const wait = (): void => {
      const restMilliseconds = dueAt - Date.now();
      schedule.timer =
        restMilliseconds > longestTimerMilliseconds
          ? setTimeout(wait, longestTimerMilliseconds)
          : setTimeout(() => fire(schedule, occurrence), Math.max(0, restMilliseconds));
    };
    wait();
  }

  function fire(schedule: Schedule, occurrence: number): void {
    const now = Date.now();
    schedule.firedAt = now;
    schedule.handledUntil = Math.max(occurrence, ownTime(schedule, now));
    if (schedule.running < maximumRunning) {
      schedule.running += 1;
      void reachTarget(schedule, occurrence).finally(() => {
        schedule.running -= 1;
      });
    }
    if (schedule.isKept) {
      saveSoon();
    }
    arm(schedule);
  }

  /** Tries a few times; a target that keeps failing is reported and left until the next occurrence. */
  async function reachTarget(schedule: Schedule, occurrence: number): Promise<void> {
    const executionId = randomUUID();
    for (const [index, delay] of [0, ...retryDelaysMilliseconds].entries()) {
      await new Promise((resolve) => setTimeout(resolve, delay).unref());
      try {
        await tryTarget(schedule, {
          executionId,
          attempt: index + 1,
          time: new Date(occurrence).toISOString(),
        });
        return;
      } catch (error) {
        if (!isFiring) {
          return;
        }
        if (index === retryDelaysMilliseconds.length) {
          report(`Schedule ${schedule.name} could not reach its target: ${(error as Error).message}`);
        }
      }
    }
  }

  async function tryTarget(
    schedule: Schedule,
    execution: { readonly executionId: string; readonly attempt: number; readonly time: string },
  ): Promise<void> {
    const { Arn: targetArn, Input: input, RoleArn: roleArn } = schedule.definition.Target;
    const service = targetArn.split(":")[2];
    const action = service === "sqs" ? "sqs:SendMessage" : "lambda:InvokeFunction";
    if (decide(statementsOf(assembly, roleArn), action, targetArn, {}) !== "allow") {
      throw new Error(`its role ${roleArn} does not allow ${action} on ${targetArn}`);
    }
    const scheduleArn = arnOf(schedule);
    const text =
      input === undefined
        ? JSON.stringify({
            version: "0",
            id: execution.executionId,
            "detail-type": "Scheduled Event",
            source: "aws.scheduler",
            account: assembly.accountId,
            time: execution.time,
            region: assembly.region,
            resources: [scheduleArn],
            detail: "{}",
          })
        : input
            .replaceAll("<aws.scheduler.schedule-arn>", scheduleArn)
            .replaceAll("<aws.scheduler.scheduled-time>", execution.time)
            .replaceAll("<aws.scheduler.execution-id>", execution.executionId)
            .replaceAll("<aws.scheduler.attempt-number>", String(execution.attempt));
    if (service === "sqs") {
      sqs.send(targetArn, text);
      return;
    }
    await invoke(schedule, targetArn, JSON.parse(text));
  }

  /** Scheduler only hands the event over: how often a function that fails is tried again is Lambda's setting for it. */
  async function invoke(schedule: Schedule, targetArn: string, event: unknown): Promise<void> {
    const setting = assembly
      .ofType<{ FunctionName: string; MaximumRetryAttempts?: number }>("AWS::Lambda::EventInvokeConfig")
      .find(({ properties }) => targetArn.endsWith(`:${properties.FunctionName}`));
    const retries = setting?.properties.MaximumRetryAttempts ?? functionRetryDelaysMilliseconds.length;
    for (const delay of [0, ...functionRetryDelaysMilliseconds.slice(0, retries)]) {
      await new Promise((resolve) => setTimeout(resolve, delay / speed).unref());
      if (!isFiring) {
        return;
      }
      const result = await lambda.invoke(targetArn, event);
      if (!("functionError" in result)) {
        return;
      }
      report(`Schedule ${schedule.name}: its function failed: ${result.payload.errorMessage}`);
    }
  }

  function arnOf({ group, name }: StoredSchedule): string {
    return `arn:aws:scheduler:${assembly.region}:${assembly.accountId}:schedule/${group}/${name}`;
  }

  function find(group: string, name: string): Schedule {
    if (!groups.has(group)) {
      throw new Refusal(404, "ResourceNotFoundException", `Schedule group ${group} does not exist.`);
    }
    const schedule = schedules.get(keyOf(group, name));
    if (schedule === undefined) {
      throw new Refusal(404, "ResourceNotFoundException", `Schedule ${name} does not exist.`);
    }
    return schedule;
  }

  async function create(name: string, definition: Definition): Promise<Reply> {
    const group = definition.GroupName ?? defaultGroup;
    if (!groups.has(group)) {
      throw new Refusal(404, "ResourceNotFoundException", `Schedule group ${group} does not exist.`);
    }
    if (schedules.has(keyOf(group, name))) {
      throw new Refusal(409, "ConflictException", `Schedule ${name} already exists.`);
    }
    const schedule = put(name, definition, { isKept: true });
    await save();
    return { status: 200, body: { ScheduleArn: arnOf(schedule) } };
  }

  async function update(name: string, definition: Definition): Promise<Reply> {
    const { createdAt, isKept } = find(definition.GroupName ?? defaultGroup, name);
    const schedule = put(name, definition, { isKept, createdAt });
    await save();
    return { status: 200, body: { ScheduleArn: arnOf(schedule) } };
  }

  function show(schedule: Schedule): Reply {
    return {
      status: 200,
      body: {
        ScheduleExpressionTimezone: "UTC",
        State: "ENABLED",
        ActionAfterCompletion: "NONE",
        ...schedule.definition,
        Arn: arnOf(schedule),
        GroupName: schedule.group,
        Name: schedule.name,
        CreationDate: schedule.createdAt / 1000,
        LastModificationDate: schedule.modifiedAt / 1000,
      },
    };
  }

  function list(query: URLSearchParams): Reply {
    const group = query.get("ScheduleGroup");
    const state = query.get("State");
    const prefix = query.get("NamePrefix") ?? "";
    const after = Buffer.from(query.get("NextToken") ?? "", "base64url").toString();
    const limit = Number(query.get("MaxResults") ?? 100);
    if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
      throw new Refusal(400, "ValidationException", "MaxResults must be between 1 and 100.");
    }
    const found = [...schedules.entries()]
      .filter(([key, { name }]) => key > after && name.startsWith(prefix))
      .filter(([, schedule]) => group === null || schedule.group === group)
      .filter(([, { definition }]) => state === null || (definition.State ?? "ENABLED") === state)
      .sort(([a], [b]) => (a < b ? -1 : 1));
    const page = found.slice(0, limit);
    return {
      status: 200,
      body: {
        Schedules: page.map(([, schedule]) => ({
          Arn: arnOf(schedule),
          Name: schedule.name,
          GroupName: schedule.group,
          State: schedule.definition.State ?? "ENABLED",
          CreationDate: schedule.createdAt / 1000,
          LastModificationDate: schedule.modifiedAt / 1000,
          Target: { Arn: schedule.definition.Target.Arn },
        })),
        NextToken:
          found.length > limit ? Buffer.from(page.at(-1)?.[0] ?? "").toString("base64url") : undefined,
      },
    };
  }

  async function route(method: string, url: URL, body: Buffer): Promise<Reply> {
    const [, resource, encodedName, ...rest] = url.pathname.split("/");
    if (resource !== "schedules" || rest.length > 0) {
      throw new Refusal(404, "ResourceNotFoundException", `No operation at ${url.pathname}.`);
    }
    if (encodedName === undefined || encodedName === "") {
      return list(url.searchParams);
    }
    const name = decodeURIComponent(encodedName);
    if (method === "POST" || method === "PUT") {
      const { ClientToken: token, ...definition } = JSON.parse(body.toString()) as Definition & {
        ClientToken?: string;
      };
      return once(token, `${method} ${name} ${JSON.stringify(definition)}`, () =>
        method === "POST" ? create(name, definition) : update(name, definition),
      );
    }
    const group = url.searchParams.get("groupName") ?? defaultGroup;
    if (method === "GET") {
      return show(find(group, name));
    }
    const token = url.searchParams.get("clientToken") ?? undefined;
    return once(token, `${method} ${group}/${name}`, async () => {
      remove(find(group, name));
      await save();
      return { status: 200, body: {} };
    });
  }

  /** A repeated request with the same client token gets the first one's answer. */
  async function once(token: string | undefined, request: string, act: () => Promise<Reply>): Promise<Reply> {
    const earlier = token === undefined ? undefined : answered.get(token);
    if (earlier !== undefined) {
      if (earlier.request !== request) {
        throw new Refusal(409, "ConflictException", "The client token was used with other parameters.");
      }
      return earlier.reply;
    }
    const reply = await act();
    if (token !== undefined) {
      answered.set(token, { request, reply });
      const [oldest] = answered.keys();
      if (answered.size > 1000 && oldest !== undefined) {
        answered.delete(oldest);
      }
    }
    return reply;
  }

  /** Resolves when everything as it is now is on disk. */
  function save(): Promise<void> {
    clearTimeout(saveTimer);
    saveTimer = undefined;
    saving = saving.then(async () => {
      if (file === undefined) {
        return;
      }
      const kept = [...schedules.values()].filter(({ isKept }) => isKept);
      const stored = kept.map(
        ({ name, group, definition, createdAt, modifiedAt, handledUntil }): StoredSchedule => ({
          name,
          group,
          definition,
          createdAt,
          modifiedAt,
          handledUntil,
        }),
      );
      await writeFile(`${file}.new`, JSON.stringify(stored, null, 1), { mode: 0o600 });
      await rename(`${file}.new`, file);
    });
    return saving;
  }

  function saveSoon(): void {
    saveTimer ??= setTimeout(() => {
      save().catch((error) => report(`The schedules could not be saved: ${error.message}`));
    }, saveDelayMilliseconds);
  }

  if (settings.directory !== undefined) {
    await mkdir(settings.directory, { recursive: true, mode: 0o700 });
  }
  const server = await listenOnLoopback(async (request, body) => {
    try {
      return await route(request.method ?? "GET", new URL(request.url ?? "/", "http://127.0.0.1"), body);
    } catch (error) {
      if (error instanceof Refusal) {
        return error.reply;
      }
      throw error;
    }
  });
  return {
    endpoint: server.url,
    begin: () => {
      isFiring = true;
      for (const schedule of schedules.values()) {
        arm(schedule);
      }
    },
    close: async () => {
      isFiring = false;
      for (const { timer } of schedules.values()) {
        clearTimeout(timer);
      }
      await server.close();
      await save();
    },
  };
}

/** An error of the API, in its form. */
class Refusal extends Error {
  readonly reply: Reply;

  constructor(status: number, type: string, message: string) {
    super(message);
    this.reply = { status, headers: { "x-amzn-errortype": type }, body: { Message: message } };
  }
}

function keyOf(group: string, name: string): string {
  return `${group}/${name}`;
}

function nextOccurrence({ recurrence, definition, handledUntil }: Schedule): number | undefined {
  const start = (definition.StartDate ?? Number.NEGATIVE_INFINITY) * 1000;
  const occurrence = recurrence(Math.max(handledUntil, start - 1));
  const end = (definition.EndDate ?? Number.POSITIVE_INFINITY) * 1000;
  return occurrence <= end ? occurrence : undefined;
}

/** @throws Refusal (ValidationException) that names what is wrong. */
function checkDefinition(name: string, definition: Definition, modifiedAt: number): Recurrence {
  const refuse = (message: string): never => {
    throw new Refusal(400, "ValidationException", message);
  };
  if (!/^[0-9a-zA-Z-_.]{1,64}$/.test(name)) {
    refuse("Name must have 1 to 64 letters, digits, hyphens, underscores or dots.");
  }
  if (!definition.Target?.Arn || !definition.Target.RoleArn) {
    refuse("Target must have an Arn and a RoleArn.");
  }
  if (!/^arn:[^:]+:(lambda:[^:]*:[^:]*:function|sqs:[^:]*:[^:]*):/.test(definition.Target.Arn)) {
    refuse("Provided Arn is not a Lambda function or an SQS queue, the targets that a local run knows.");
  }
  const window = definition.FlexibleTimeWindow;
  const windowMinutes = window?.MaximumWindowInMinutes;
  if (window?.Mode !== "OFF" && window?.Mode !== "FLEXIBLE") {
    refuse("FlexibleTimeWindow must have a Mode of OFF or FLEXIBLE.");
  }
  if (window.Mode === "OFF" && windowMinutes !== undefined) {
    refuse("MaximumWindowInMinutes must not be given when the Mode is OFF.");
  }
  if (
    window.Mode === "FLEXIBLE" &&
    !(
      windowMinutes !== undefined &&
      Number.isInteger(windowMinutes) &&
      windowMinutes >= 1 &&
      windowMinutes <= 1440
    )
  ) {
    refuse("MaximumWindowInMinutes must be between 1 and 1440 when the Mode is FLEXIBLE.");
  }
  if (!["UTC", "Etc/UTC", undefined].includes(definition.ScheduleExpressionTimezone)) {
    refuse("A local run knows no ScheduleExpressionTimezone but UTC.");
  }
  if (!["ENABLED", "DISABLED", undefined].includes(definition.State)) {
    refuse("State must be ENABLED or DISABLED.");
  }
  if (!["NONE", "DELETE", undefined].includes(definition.ActionAfterCompletion)) {
    refuse("ActionAfterCompletion must be NONE or DELETE.");
  }
  const { StartDate: start, EndDate: end } = definition;
  if (start !== undefined && end !== undefined && end <= start) {
    refuse("EndDate must be after StartDate.");
  }
  if (definition.Target.Input !== undefined && definition.Target.Arn.split(":")[2] === "lambda") {
    try {
      JSON.parse(definition.Target.Input);
    } catch {
      refuse("Input must be valid JSON for a Lambda function.");
    }
  }
  try {
    return parseScheduleExpression(
      definition.ScheduleExpression,
      start === undefined ? modifiedAt : start * 1000,
    );
  } catch (error) {
    return refuse((error as Error).message);
  }
}

/** CloudFormation writes dates as text, the API as seconds. */
function readTemplateSchedule(properties: Record<string, unknown>): Definition {
  const seconds = (date: unknown) =>
    typeof date === "string" ? { date: Date.parse(date) / 1000 } : undefined;
  const start = seconds(properties.StartDate);
  const end = seconds(properties.EndDate);
  const {
    Name: _name,
    StartDate: _start,
    EndDate: _end,
    ...rest
  } = properties as unknown as Definition & {
    Name?: string;
  };
  return {
    ...rest,
    ...(start === undefined ? {} : { StartDate: start.date }),
    ...(end === undefined ? {} : { EndDate: end.date }),
  };
}

async function readSchedules(file: string): Promise<StoredSchedule[]> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return [];
    }
    throw error;
  }
}
