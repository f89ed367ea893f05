/**
 * The process that contended.ts starts: does what people and workers do to one organization, with the
 * service's own code. The environment names the table and the queues.
 */
import { Logger } from "@aws-lambda-powertools/logger";
import { administrator } from "../shared/access/activity/actor.ts";
import * as configure from "../shared/alerting/channels/configure.ts";
import * as queue from "../shared/aws/queue/queue.ts";
import { withTimeOf } from "../shared/aws/table/patience.ts";
import { Refusal } from "../shared/contract/errors.ts";
import { type Message, messages, type QueueName } from "../shared/contract/messages.ts";
import { urlVariable } from "../shared/contract/worker.ts";
import * as findings from "../shared/findings/finding.ts";
import * as domains from "../shared/monitoring/domains/domain.ts";
import * as emails from "../shared/monitoring/emails/email.ts";
import { check } from "../shared/scanning/check.ts";
import { plan } from "../shared/scanning/plan.ts";
import * as scanList from "../shared/scanning/scan-list.ts";
import { start } from "../shared/scanning/start.ts";

export type Task =
  | { do: "acknowledge"; id: number }
  | { do: "add"; email: string; domainId: number }
  | { do: "assign"; id: number }
  | { do: "list" }
  | { do: "plan"; channels: number }
  | { do: "read-end" }
  | { do: "check"; message: Message<"scan-checks"> };

/** `number`: of the task, so that its answer can be told from others. */
export type Asked = { org: number; number: number; task: Task };
export type Answered = { number: number; done: Done };
export type Done = {
  kind: Task["do"];
  milliseconds: number;
  failed?: string;
  /** What `plan` has planned. */
  planned?: Message<"scan-checks">[];
  /** When the latest scan was completed, as `read-end` has read it: epoch milliseconds, NaN if it was not. */
  endedAt?: number;
};

/** The time of an invocation of `check-emails`. */
const invocationSeconds = 120;

const createChannels = async (org: number, channels: number): Promise<void> => {
  for (let index = 0; index < channels; index++) {
    await configure.create(
      org,
      {
        channel: "webhook",
        config: { url: `https://192.0.32.8/hooks/${index}` },
        isEnabled: true,
        notifyOnNewBreach: true,
        notifyOnScanComplete: false,
        notifyOnScanError: false,
      },
      administrator,
      async () => undefined,
    );
  }
};

const take = async <Q extends QueueName>(name: Q): Promise<Message<Q>[]> => {
  process.env.SOURCE_QUEUE_URL = process.env[urlVariable(name)];
  const taken: Message<Q>[] = [];
  for (;;) {
    const received = await queue.receive(10, 0);
    if (received.length === 0) return taken;
    for (const { body, receiptHandle } of received) {
      taken.push(messages[name].parse(JSON.parse(body)) as Message<Q>);
      await queue.remove(receiptHandle);
    }
  }
};

const planScan = async (org: number, channels: number): Promise<Message<"scan-checks">[]> => {
  await createChannels(org, channels);
  await start(org, "manual", administrator);
  const logger = new Logger({ logLevel: "SILENT" });
  for (const message of await take("scan-plans"))
    await plan(message, { logger, remainingSeconds: () => 900 });
  return take("scan-checks");
};

const run = async (org: number, task: Task): Promise<unknown> => {
  if (task.do === "plan") return planScan(org, task.channels);
  if (task.do === "read-end") {
    const [latest] = (await scanList.list(org, { limit: 1, offset: 0 }, new Date())).scans;
    return Date.parse(latest?.completedAt ?? "");
  }
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
    (result) => ({
      ...done(),
      ...(task.do === "plan" && { planned: result as Done["planned"] & object }),
      ...(task.do === "read-end" && { endedAt: result as number }),
    }),
    (error: Error) => done(error instanceof Refusal ? error.refusal : error.name),
  );
};

process.on("message", async ({ org, number, task }: Asked) => {
  process.send?.({ number, done: await timed(org, task) } satisfies Answered);
});

// Functions that are in use have connections to the table.
const [org = "", connections = "1"] = process.argv.slice(2);
for (let count = 1; count <= Number(connections); count *= 2) {
  await Promise.all(Array.from({ length: count }, () => domains.list(Number(org))));
}
process.send?.("ready");
