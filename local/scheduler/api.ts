/** Scheduler's REST API: CreateSchedule, GetSchedule, UpdateSchedule, DeleteSchedule and ListSchedules. */
import type { Reply } from "../loopback.ts";
import { openClientTokens } from "./client-tokens.ts";
import { notFound, Refused } from "./refusal.ts";
import { type Definition, defaultGroup, type Schedule } from "./schedule.ts";
import type { Schedules } from "./schedules.ts";

export type Api = (method: string, url: URL, body: Buffer) => Promise<Reply>;

export type ApiOptions = {
  schedules: Schedules;
  arnOf: (schedule: Schedule) => string;
  /** Resolves when the schedules are on disk as they are now. */
  save: () => Promise<void>;
};

/** Answers requests. What it refuses is thrown as `Refused`. */
export const createApi = (options: ApiOptions): Api => {
  const { schedules, arnOf } = options;
  const tokens = openClientTokens();
  return async (method, url, body) => {
    const [, resource, encodedName, ...rest] = url.pathname.split("/");
    if (resource !== "schedules" || rest.length > 0) throw notFound(`No operation at ${url.pathname}.`);
    if (encodedName === undefined || encodedName === "") return list(options, url.searchParams);
    const name = decodeURIComponent(encodedName);
    if (method === "POST" || method === "PUT") {
      const { ClientToken: token, ...definition } = JSON.parse(body.toString()) as Definition & {
        ClientToken?: string;
      };
      const act = method === "POST" ? create : update;
      const request = `${method} ${name} ${JSON.stringify(definition)}`;
      return tokens.once(token, request, () => act(options, name, definition));
    }
    const group = url.searchParams.get("groupName") ?? defaultGroup;
    if (method === "GET") return { status: 200, body: describe(schedules.find(group, name), arnOf) };
    const token = url.searchParams.get("clientToken") ?? undefined;
    return tokens.once(token, `${method} ${group}/${name}`, () => remove(options, group, name));
  };
};

const create = async (
  { schedules, arnOf, save }: ApiOptions,
  name: string,
  definition: Definition,
): Promise<Reply> => {
  const group = definition.GroupName ?? defaultGroup;
  schedules.requireGroup(group);
  if (schedules.has(group, name)) {
    throw new Refused(409, "ConflictException", `Schedule ${name} already exists.`);
  }
  const schedule = schedules.put(name, definition, { isKept: true });
  await save();
  return { status: 200, body: { ScheduleArn: arnOf(schedule) } };
};

const update = async (
  { schedules, arnOf, save }: ApiOptions,
  name: string,
  definition: Definition,
): Promise<Reply> => {
  const { createdAt, isKept } = schedules.find(definition.GroupName ?? defaultGroup, name);
  const schedule = schedules.put(name, definition, { isKept, createdAt });
  await save();
  return { status: 200, body: { ScheduleArn: arnOf(schedule) } };
};

const remove = async ({ schedules, save }: ApiOptions, group: string, name: string): Promise<Reply> => {
  schedules.remove(schedules.find(group, name));
  await save();
  return { status: 200, body: {} };
};

const describe = (schedule: Schedule, arnOf: ApiOptions["arnOf"]): object => ({
  ScheduleExpressionTimezone: "UTC",
  State: "ENABLED",
  ActionAfterCompletion: "NONE",
  ...schedule.definition,
  Arn: arnOf(schedule),
  GroupName: schedule.group,
  Name: schedule.name,
  CreationDate: schedule.createdAt / 1000,
  LastModificationDate: schedule.modifiedAt / 1000,
});

/** A page in the order of `group/name`. The token of the next page is the last key of this one. */
const list = ({ schedules, arnOf }: ApiOptions, query: URLSearchParams): Reply => {
  const group = query.get("ScheduleGroup");
  const state = query.get("State");
  const prefix = query.get("NamePrefix") ?? "";
  const after = Buffer.from(query.get("NextToken") ?? "", "base64url").toString();
  const limit = Number(query.get("MaxResults") ?? 100);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100) {
    throw new Refused(400, "ValidationException", "MaxResults must be between 1 and 100.");
  }
  const found = schedules
    .entries()
    .filter(([key, { name }]) => key > after && name.startsWith(prefix))
    .filter(([, schedule]) => group === null || schedule.group === group)
    .filter(([, { definition }]) => state === null || (definition.State ?? "ENABLED") === state)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const page = found.slice(0, limit);
  return {
    status: 200,
    body: {
      Schedules: page.map(([, schedule]) => summarize(schedule, arnOf)),
      NextToken: found.length > limit ? Buffer.from(page.at(-1)?.[0] ?? "").toString("base64url") : undefined,
    },
  };
};

const summarize = (schedule: Schedule, arnOf: ApiOptions["arnOf"]): object => ({
  Arn: arnOf(schedule),
  Name: schedule.name,
  GroupName: schedule.group,
  State: schedule.definition.State ?? "ENABLED",
  CreationDate: schedule.createdAt / 1000,
  LastModificationDate: schedule.modifiedAt / 1000,
  Target: { Arn: schedule.definition.Target.Arn },
});
