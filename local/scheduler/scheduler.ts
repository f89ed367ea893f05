/**
 * EventBridge Scheduler: its REST API on a free loopback port, the template's schedules, and their firing at
 * Lambda functions. A target is only reached if the schedule's role allows it. Expressions other than `rate()`
 * are refused.
 *
 * Every schedule has a clock of its own, which starts with its creation or latest update and runs `speed`
 * times faster. One firing makes up for all occurrences that were missed while the service was down.
 */
import { openKeptFile } from "../kept-file.ts";
import type { Lambda } from "../lambda/lambda.ts";
import { listenOnLoopback } from "../loopback.ts";
import type { Sqs } from "../sqs/sqs.ts";
import type { Assembly } from "../template/assembly.ts";
import { createApi } from "./api.ts";
import { openFiring } from "./firing.ts";
import { Refused } from "./refusal.ts";
import { createSchedule, type Definition, defaultGroup, keyOf, type Schedule, storedOf } from "./schedule.ts";
import { reachTarget } from "./target.ts";

export type Scheduler = {
  endpoint: string;
  /** Starts firing. Before this, schedules can only be managed. */
  begin(): void;
  close(): Promise<void>;
};

/** `directory` keeps schedules that were made through the API; undefined: they end with the process. */
export const startScheduler = async (settings: {
  assembly: Assembly;
  lambda: Pick<Lambda, "invoke">;
  sqs: Pick<Sqs, "send">;
  speed: number;
  directory: string | undefined;
  report?: (line: string) => void;
}): Promise<Scheduler> => {
  const { assembly, lambda, sqs, speed, directory, report = console.error } = settings;
  const closing = new AbortController();
  const arnOf = ({ group, name }: Schedule): string =>
    `arn:aws:scheduler:${assembly.region}:${assembly.accountId}:schedule/${group}/${name}`;

  const targets = { assembly, lambda, sqs, speed, arnOf, report, closing: closing.signal };
  const schedules = new Map<string, Schedule>();
  const firing = openFiring({
    speed,
    reach: (schedule, occurrence) => reachTarget(targets, schedule, occurrence),
    onFired: ({ isKept }) => {
      if (isKept) saveSoon();
    },
  });
  const remove = (schedule: Schedule): void => {
    firing.disarm(schedule);
    schedules.delete(keyOf(schedule.group, schedule.name));
  };
  const put = (name: string, definition: Definition, origin: Parameters<typeof createSchedule>[2]) => {
    const schedule = createSchedule(name, definition, origin, speed);
    const key = keyOf(schedule.group, name);
    const replaced = schedules.get(key);
    if (replaced !== undefined) remove(replaced);
    schedules.set(key, schedule);
    firing.arm(schedule);
    return schedule;
  };
  const file = await openKeptFile(directory, "schedules.json", () =>
    [...schedules.values()].filter(({ isKept }) => isKept).map(storedOf),
  );
  let saving: NodeJS.Timeout | undefined;
  /** Saves after a moment, together with other changes. */
  const saveSoon = (): void => {
    clearTimeout(saving);
    saving = setTimeout(() => {
      file.save().catch((error) => report(`The schedules could not be saved: ${error.message}`));
    }, saveDelayMilliseconds);
  };
  for (const { logicalId, properties } of assembly.ofType<Definition & { Name?: string }>(
    "AWS::Scheduler::Schedule",
  )) {
    const { Name: _, ...definition } = properties;
    put(assembly.physicalId(logicalId), definition, { isKept: false });
  }
  try {
    for (const stored of (await file.read()) ?? [])
      put(stored.name, stored.definition, { isKept: true, stored });
  } catch (error) {
    throw new Error(
      `${file.path} can't be read (${(error as Error).message}): restore it, or choose other data with --data DIR.`,
    );
  }

  const api = createApi({ groups: groupsOf(assembly), schedules, put, remove, arnOf, save: file.save });
  const server = await listenOnLoopback(async (request, body) => {
    try {
      return await api(request.method ?? "GET", new URL(request.url ?? "/", "http://127.0.0.1"), body);
    } catch (error) {
      if (error instanceof Refused) return error.reply;
      throw error;
    }
  });
  return {
    endpoint: server.url,
    begin: () => firing.begin(schedules.values()),
    close: async () => {
      closing.abort();
      firing.end(schedules.values());
      await server.close();
      clearTimeout(saving);
      await file.save();
    },
  };
};

const saveDelayMilliseconds = 500;

const groupsOf = (assembly: Assembly): Set<string> => {
  const groups = assembly.ofType("AWS::Scheduler::ScheduleGroup");
  return new Set([defaultGroup, ...groups.map(({ logicalId }) => assembly.physicalId(logicalId))]);
};
