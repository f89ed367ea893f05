/**
 * The process that contended.ts starts: does what people and workers do to one organization, with the
 * service's own code. The environment names the table and the queues.
 */
import { Logger } from "@aws-lambda-powertools/logger";
import { administrator } from "../shared/activity/actor.ts";
import { Refusal } from "../shared/contract/errors.ts";
import type { Message } from "../shared/contract/messages.ts";
import * as domains from "../shared/domains/domain.ts";
import * as emails from "../shared/emails/email.ts";
import * as findings from "../shared/findings/finding.ts";
import { check } from "../shared/scans/check.ts";
import { withTimeOf } from "../shared/table/patience.ts";

export type Task =
  | { do: "acknowledge"; id: number }
  | { do: "add"; email: string; domainId: number }
  | { do: "assign"; id: number }
  | { do: "list" }
  | { do: "check"; message: Message<"scan-checks"> };

/** All tasks begin at once, or so many at a time. */
export type Work = { org: number; tasks: Task[]; atOnce: number };
export type Done = { kind: Task["do"]; milliseconds: number; failed?: string };

/** The time of an invocation of `check-emails`. */
const invocationSeconds = 120;

const run = async (org: number, task: Task): Promise<unknown> => {
  if (task.do === "acknowledge")
    return findings.acknowledge(org, { id: task.id, resolution: "handled" }, administrator);
  if (task.do === "add") return emails.add(org, task, administrator);
  if (task.do === "assign") return emails.assign(org, task.id, { ownerName: "Ada" }, administrator);
  if (task.do === "list") return findings.list(org, { limit: 50, offset: 0 });
  const endsAt = Date.now() + invocationSeconds * 1000;
  const remainingSeconds = () => (endsAt - Date.now()) / 1000;
  const logger = new Logger({ logLevel: "SILENT" });
  return withTimeOf(invocationSeconds * 1000, () => check(task.message, { logger, remainingSeconds }));
};

const timed = async (org: number, task: Task): Promise<Done> => {
  const begin = performance.now();
  const done = (failed?: string): Done => ({
    kind: task.do,
    milliseconds: performance.now() - begin,
    ...(failed !== undefined && { failed }),
  });
  return run(org, task).then(
    () => done(),
    (error: Error) => done(error instanceof Refusal ? error.refusal : error.name),
  );
};

process.on("message", async ({ org, tasks, atOnce }: Work) => {
  const done: Done[] = [];
  const waiting = tasks.values();
  const work = async (): Promise<void> => {
    for (const task of waiting) done.push(await timed(org, task));
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, tasks.length) }, work));
  process.send?.(done);
});

// Functions that are in use have connections to the table.
const [org = "", connections = "1"] = process.argv.slice(2);
for (let count = 1; count <= Number(connections); count *= 2) {
  await Promise.all(Array.from({ length: count }, () => domains.list(Number(org))));
}
process.send?.("ready");
