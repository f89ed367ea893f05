/** What directories have to look at again (people/follow/task.ts), written by whoever changes it. */
import { randomUUID } from "node:crypto";
import { newJob } from "../../aws/queue/job.ts";
import type { Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";

/** `mark` is new whenever something new has to follow: so a worker ends no task that came later. */
export const directoryTask = (
  org: number,
  name: string,
  also: Record<string, unknown> = {},
): Extract<Write, { put: Key }> => ({
  put: { ...keys.directoryTask(org, name), ...newJob("DIRECTORY", org), mark: randomUUID(), ...also },
});

/**
 * For the transaction in which a domain is verified, is not any more, or is removed: addresses of this name that
 * directories know may have to be watched. The sweep does it within minutes.
 */
export const domainChanged = (org: number, { name }: { name: string }): Write =>
  directoryTask(org, `DOMAIN#${name}`);
