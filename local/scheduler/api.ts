/** Scheduler's REST API: CreateSchedule, GetSchedule, UpdateSchedule, DeleteSchedule and ListSchedules. */
import type { Reply } from "../loopback.ts";
import { notFound, Refused } from "./refusal.ts";
import { type Definition, defaultGroup, keyOf, type Schedule } from "./schedule.ts";

export type Api = (method: string, url: URL, body: Buffer) => Promise<Reply>;

export type ApiOptions = {
  groups: ReadonlySet<string>;
  /** By `group/name`. */
  schedules: ReadonlyMap<string, Schedule>;
  /** Makes or replaces a schedule. Throws `Refused` if the definition is not valid. */
  put: (name: string, definition: Definition, origin: { isKept: true; createdAt?: number }) => Schedule;
  remove: (schedule: Schedule) => void;
  arnOf: (schedule: Schedule) => string;
  /** Resolves when the schedules are on disk as they are now. */
  save: () => Promise<void>;
};

/** Answers requests. What it refuses is thrown as `Refused`. */
export const createApi = ({ groups, schedules, put, remove, arnOf, save }: ApiOptions): Api => {
  const find = (group: string, name: string): Schedule => {
    if (!groups.has(group)) throw notFound(`Schedule group ${group} does not exist.`);
    const schedule = schedules.get(keyOf(group, name));
    if (schedule === undefined) throw notFound(`Schedule ${name} does not exist.`);
    return schedule;
  };
  return async (method, url, body) => {
    const [, resource, encodedName = "", ...rest] = url.pathname.split("/");
    if (resource !== "schedules" || rest.length > 0) throw notFound(`No operation at ${url.pathname}.`);
    const group = url.searchParams.get("groupName") ?? defaultGroup;
    const name = decodeURIComponent(encodedName);
    if (name === "") return { status: 200, body: list([...schedules.values()], url.searchParams, arnOf) };
    if (method === "GET") return { status: 200, body: describe(find(group, name), arnOf) };
    if (method === "DELETE") {
      remove(find(group, name));
      await save();
      return { status: 200, body: {} };
    }
    const { ClientToken: _, ...definition } = JSON.parse(body.toString()) as Definition & {
      ClientToken?: string;
    };
    const ownGroup = definition.GroupName ?? defaultGroup;
    const isNew = method === "POST";
    if (isNew && !groups.has(ownGroup)) throw notFound(`Schedule group ${ownGroup} does not exist.`);
    if (isNew && schedules.has(keyOf(ownGroup, name)))
      throw new Refused(409, "ConflictException", `Schedule ${name} already exists.`);
    const kept = isNew ? {} : { createdAt: find(ownGroup, name).createdAt };
    const schedule = put(name, definition, { isKept: true, ...kept });
    await save();
    return { status: 200, body: { ScheduleArn: arnOf(schedule) } };
  };
};

const describe = (schedule: Schedule, arnOf: ApiOptions["arnOf"]): object => ({
  ScheduleExpressionTimezone: "UTC",
  ActionAfterCompletion: "NONE",
  ...schedule.definition,
  ...summarize(schedule, arnOf),
  Target: schedule.definition.Target,
});

const summarize = (schedule: Schedule, arnOf: ApiOptions["arnOf"]): object => ({
  Arn: arnOf(schedule),
  Name: schedule.name,
  GroupName: schedule.group,
  State: "ENABLED",
  CreationDate: schedule.createdAt / 1000,
  LastModificationDate: schedule.modifiedAt / 1000,
  Target: { Arn: schedule.definition.Target.Arn },
});

/** All at once, in the order of their names. */
const list = (schedules: Schedule[], query: URLSearchParams, arnOf: ApiOptions["arnOf"]): object => {
  const group = query.get("ScheduleGroup");
  return {
    Schedules: schedules
      .filter((schedule) => group === null || schedule.group === group)
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map((schedule) => summarize(schedule, arnOf)),
  };
};
