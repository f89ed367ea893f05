/**
 * EventBridge Scheduler: its REST API on a free loopback port, the template's schedules, and their firing at
 * Lambda functions. One firing makes up for all occurrences that were missed, with the service down or the
 * function at work.
 */
import type { IncomingMessage } from "node:http";
import { openKeptFile } from "../kept-file.ts";
import type { Lambda } from "../lambda/lambda.ts";
import { listenOnLoopback, type Reply } from "../loopback.ts";
import type { Assembly } from "../template/assembly.ts";
import { type Definition, intervalOf, nextOccurrence, ownTime, type Schedule } from "./schedule.ts";
import { reachTarget } from "./target.ts";

export type Scheduler = {
  endpoint: string;
  /** Starts firing. Before this, schedules can only be managed. */
  begin(): void;
  close(): Promise<void>;
};

/** `isKept` false: one of the template's, which begin anew with every run. */
type Timed = Schedule & { isKept: boolean; timer?: NodeJS.Timeout; firedAt: number };

/** Faster than this a schedule only burns the machine's few cores; occurrences in between are left out. */
const shortestIntervalMilliseconds = 250;

/** setTimeout takes no more. */
const longestTimerMilliseconds = 2 ** 31 - 1;

const defaultGroup = "default";

/** `directory` keeps schedules that were made through the API; undefined: they end with the process. */
export const startScheduler = async (settings: {
  assembly: Assembly;
  lambda: Pick<Lambda, "invoke">;
  speed: number;
  directory: string | undefined;
  report?: (line: string) => void;
}): Promise<Scheduler> => {
  const { assembly, lambda, speed, directory, report = console.error } = settings;
  const closing = new AbortController();
  const targets = { assembly, lambda, speed, report, closing: closing.signal };
  /** By group and name. */
  const schedules = new Map<string, Timed>();
  let isFiring = false;

  const file = await openKeptFile(directory, "schedules.json", () =>
    [...schedules.values()]
      .filter(({ isKept }) => isKept)
      .map(({ isKept: _kept, timer: _timer, firedAt: _fired, ...schedule }) => schedule),
  );

  /** Sets the timer of a schedule's next occurrence, once firing has begun. */
  const arm = (schedule: Timed): void => {
    if (!isFiring || schedules.get(keyOf(schedule)) !== schedule) return;
    const { modifiedAt, firedAt } = schedule;
    const occurrence = nextOccurrence(schedule);
    const dueAt = Math.max(
      modifiedAt + (occurrence - modifiedAt) / speed,
      firedAt + shortestIntervalMilliseconds,
    );
    const remaining = Math.max(0, dueAt - Date.now());
    const next = () => (remaining > longestTimerMilliseconds ? arm(schedule) : fire(schedule, occurrence));
    schedule.timer = setTimeout(next, Math.min(remaining, longestTimerMilliseconds));
  };

  const fire = async (schedule: Timed, occurrence: number): Promise<void> => {
    schedule.firedAt = Date.now();
    schedule.handledUntil = Math.max(occurrence, ownTime(schedule, schedule.firedAt, speed));
    if (schedule.isKept)
      file.save().catch((error) => report(`The schedules could not be saved: ${error.message}`));
    await reachTarget(targets, schedule).catch((error) =>
      report(`Schedule ${schedule.name}: ${error.message}`),
    );
    arm(schedule);
  };

  const put = (schedule: Schedule, isKept: boolean): void => {
    intervalOf(schedule.definition);
    const key = keyOf(schedule);
    clearTimeout(schedules.get(key)?.timer);
    const timed = { ...schedule, isKept, firedAt: 0 };
    // What a run with a higher speed has done can lie in this run's future.
    timed.handledUntil = Math.min(timed.handledUntil, ownTime(timed, Date.now(), speed));
    schedules.set(key, timed);
    arm(timed);
  };

  for (const { logicalId, properties } of assembly.ofType<Definition>("AWS::Scheduler::Schedule"))
    put(newSchedule(assembly.physicalId(logicalId), properties), false);
  try {
    for (const stored of (await file.read()) ?? []) put(stored, true);
  } catch (error) {
    throw new Error(
      `${file.path} can't be read (${(error as Error).message}): restore it, or choose other data with --data DIR.`,
    );
  }

  const answer = async ({ method, url = "/" }: IncomingMessage, body: Buffer): Promise<Reply> => {
    const { pathname, searchParams } = new URL(url, "http://127.0.0.1");
    const name = decodeURIComponent(pathname.replace("/schedules/", ""));
    const definition = body.length === 0 ? undefined : (JSON.parse(body.toString()) as Definition);
    const group = definition?.GroupName ?? searchParams.get("groupName") ?? defaultGroup;
    const existing = schedules.get(keyOf({ group, name }));
    if (existing !== undefined && method === "POST")
      return refuse(409, "ConflictException", `Schedule ${name} already exists.`);
    if (existing === undefined && method !== "POST")
      return refuse(404, "ResourceNotFoundException", `Schedule ${name} does not exist.`);
    if (method === "GET")
      return { status: 200, body: { ...existing?.definition, Name: name, GroupName: group } };
    if (definition === undefined) {
      clearTimeout(existing?.timer);
      schedules.delete(keyOf({ group, name }));
    } else {
      try {
        put(newSchedule(name, definition), true);
      } catch (error) {
        return refuse(400, "ValidationException", (error as Error).message);
      }
    }
    await file.save();
    const { region, accountId } = assembly;
    const ScheduleArn = `arn:aws:scheduler:${region}:${accountId}:schedule/${group}/${name}`;
    return { status: 200, body: { ScheduleArn } };
  };

  const server = await listenOnLoopback(answer);
  return {
    endpoint: server.url,
    begin: () => {
      isFiring = true;
      for (const schedule of schedules.values()) arm(schedule);
    },
    close: async () => {
      isFiring = false;
      closing.abort();
      for (const { timer } of schedules.values()) clearTimeout(timer);
      await server.close();
      await file.save();
    },
  };
};

const keyOf = ({ group, name }: Pick<Schedule, "group" | "name">): string => `${group}/${name}`;

const newSchedule = (name: string, definition: Definition): Schedule => {
  const now = Date.now();
  const { GroupName: group = defaultGroup } = definition;
  return { name, group, definition, modifiedAt: now, handledUntil: now - 1 };
};

const refuse = (status: number, type: string, message: string): Reply => ({
  status,
  headers: { "x-amzn-errortype": type },
  body: { Message: message },
});
