/** An organization on a table that is as slow as DynamoDB, conflicts as DynamoDB does, and the work of people and workers in it. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { CreateQueueCommand, SQSClient } from "@aws-sdk/client-sqs";
import { buildApp } from "fauxqs";
import { type BehaviourSettings, undisturbed } from "../local/dynamodb/behaviour.ts";
import { startDynamodb } from "../local/dynamodb/dynamodb.ts";
import { startBehavingDynamodb } from "../local/harness/behaving-dynamodb.ts";
import { startHibpServer } from "../local/harness/hibp-server.ts";
import { startParameters } from "../local/parameters/parameters.ts";
import { openAssembly } from "../local/template/assembly.ts";
import { type Message, messages, type QueueName } from "../shared/contract/messages.ts";
import { urlVariable } from "../shared/contract/worker.ts";
import type { Context } from "./arm.ts";
import { type Watch, watchTable } from "./contended-watch.ts";
import type { Answered, Asked, Done, Task } from "./contended-worker.ts";
import { tableOf } from "./database.ts";
import { keepingEnvironment } from "./environment.ts";
import { addressOf } from "./seed/addresses.ts";
import { breachName, upstreamCatalog } from "./seed/breaches.ts";
import { assembly, makeDatabase } from "./service.ts";

/** Milliseconds, as DynamoDB takes them. */
const latency = { read: 4, write: 8, transaction: 30 };
export const asSlowAsDynamodb: BehaviourSettings = { ...undisturbed, latency };

/** Processes that stand for functions. */
const processCount = 4;

/** Settings of a run. `addresses`: each in four breaches. */
export type Surroundings = {
  addresses: number;
  channels: number;
  behaviour: BehaviourSettings;
};

export type Contended = {
  org: number;
  watch: Watch;
  /** Creates the channels and plans the organization's first scan; gives the messages of its chunks. */
  planScan: () => Promise<Message<"scan-checks">[]>;
  /** Does tasks in several processes, so many at the same time in all; `beganAt`: when these had started, in epoch milliseconds. */
  work: (tasks: readonly Task[], atOnce: number) => Promise<{ done: Done[]; beganAt: number }>;
};

let count = 0;

/** Starts table, queues and upstream, with an organization that no scan has looked at, for `act`. */
export const contended = <R>(
  surroundings: Surroundings,
  progress: Context["progress"],
  act: (contended: Contended) => Promise<R>,
): Promise<R> => keepingEnvironment(() => inEnvironment(surroundings, progress, act));

const inEnvironment = async <R>(
  { addresses, channels, behaviour }: Surroundings,
  progress: Context["progress"],
  act: (contended: Contended) => Promise<R>,
): Promise<R> => {
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const size = { findings: 0, addresses };
    const database = await makeDatabase(`contended-${++count}`, size, { progress, isScanned: false });
    const { org, domains } = database.seeded;
    const directory = await assembly();
    const opened = openAssembly(directory, { region: "us-east-1", accountId: "000000000000" });
    const engine = await startDynamodb({ assembly: opened, directory: database.directory });
    stops.push(engine.close);
    const watch = watchTable();
    const behaving = await startBehavingDynamodb(engine.endpoint, behaviour, watch.observe);
    stops.push(behaving.close);
    const hibp = await startHibpServer();
    stops.push(hibp.close);
    const accounts = Object.fromEntries(
      Array.from({ length: addresses }, (_, index) => [
        addressOf(index),
        [0, 1, 2, 3].map((nth) => breachName(1 + ((index * 7 + nth) % 400))),
      ]),
    );
    Object.assign(hibp, { accounts, catalog: upstreamCatalog(), covered: domains });
    const secrets = createServer((_, response) => response.end('{"SecretString":"key"}'));
    await new Promise<void>((resolve) => secrets.listen(0, "127.0.0.1", resolve));
    stops.push(async () => secrets.close());
    const parameters = await startParameters({ assembly: opened, directory: undefined });
    stops.push(parameters.close);
    const queues = buildApp({ logger: false });
    const queuesUrl = await queues.listen({ host: "127.0.0.1", port: 0 });
    stops.push(() => queues.close());
    Object.assign(process.env, {
      AWS_ENDPOINT_URL_DYNAMODB: behaving.url,
      AWS_ENDPOINT_URL_SQS: queuesUrl,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${(secrets.address() as AddressInfo).port}`,
      AWS_ENDPOINT_URL_SSM: parameters.endpoint,
      CHANNEL_KEY_PARAMETER: "/bench/channel-key",
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      TABLE_NAME: tableOf(directory).name,
      HIBP_BASE_URL: hibp.url,
      HIBP_API_KEY_SECRET_ARN: "arn:aws:secretsmanager:us-east-1:000000000000:secret:hibp",
    });
    const sqs = new SQSClient();
    for (const name of Object.keys(messages) as QueueName[]) {
      await sqs.send(new CreateQueueCommand({ QueueName: name }));
      process.env[urlVariable(name)] = `${queuesUrl}/000000000000/${name}`;
    }
    return await act({
      org,
      watch,
      planScan: async () => {
        const { done } = await workInProcesses(org, [{ do: "plan", channels }], 1);
        return done.flatMap(({ planned = [] }) => planned);
      },
      work: (tasks, atOnce) => workInProcesses(org, tasks, atOnce),
    });
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
};

const workInProcesses = async (
  org: number,
  tasks: readonly Task[],
  atOnce: number,
): Promise<{ done: Done[]; beganAt: number }> => {
  const each = Math.ceil(atOnce / processCount);
  const children: ChildProcess[] = [];
  try {
    for (let index = 0; index < processCount; index++) {
      const child = fork(join(import.meta.dirname, "contended-worker.ts"), [String(org), String(each)]);
      child.setMaxListeners(0);
      children.push(child);
      await once(child, "message");
    }
    const beganAt = Date.now();
    // Neighbours go to different processes, and whoever is free takes the next task, as from a queue.
    const waiting = tasks.entries();
    const done: Done[] = [];
    const workIn = async (child: ChildProcess): Promise<void> => {
      for (const [number, task] of waiting) done.push(await ask(child, { org, number, task }));
    };
    await Promise.all(
      Array.from({ length: Math.min(atOnce, tasks.length) }, (_, lane) =>
        workIn(children[lane % processCount] as ChildProcess),
      ),
    );
    return { done, beganAt };
  } finally {
    for (const child of children) child.kill();
  }
};

const ask = (child: ChildProcess, asked: Asked): Promise<Done> =>
  new Promise((resolve) => {
    const take = (answered: Answered): void => {
      if (answered.number !== asked.number) return;
      child.off("message", take);
      resolve(answered.done);
    };
    child.on("message", take);
    child.send(asked);
  });
