/** Delivers the same webhooks through BullMQ on Redis, to compare the service with a plain queue. */
import { type ChildProcess, execFile, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { findFreePort } from "../local/loopback.ts";
import type { DeliverySystem } from "./alerts.ts";

const run = promisify(execFile);

/** Installed into a temporary directory for the comparison, since the project does not depend on them. */
const packages = ["bullmq@6.7.0", "ioredis@5"];

export type Job = { id: number; url: string };

/** The part of BullMQ that is used here. */
export type BullMq = {
  Queue: new (
    name: string,
    options: object,
  ) => {
    addBulk: (jobs: { name: string; data: Job; opts: object }[]) => Promise<unknown>;
    close: () => Promise<void>;
  };
  Worker: new (
    name: string,
    process: (job: { data: Job }) => Promise<void>,
    options: object,
  ) => { on: (event: "error", listener: () => void) => void };
};

export const queueName = "deliveries";

/**
 * Starts Redis and a worker with this concurrency. `organizations`: the webhook urls of each organization. A
 * job gets three attempts, 1 s and 2 s apart.
 * @throws Error when there is no Redis, or npm cannot install BullMQ.
 */
export const startBullMq = async (
  organizations: readonly string[][],
  concurrency: number,
): Promise<DeliverySystem> => {
  const server = process.env.REDIS_SERVER ?? "redis-server";
  await run(server, ["--version"]).catch(() => {
    throw new Error(
      'BullMQ needs Redis: install it ("apt-get install redis-server"), or name its server in REDIS_SERVER',
    );
  });
  const directory = await mkdtemp(join(tmpdir(), "bullmq-"));
  const children: ChildProcess[] = [];
  const closeAll = async (): Promise<void> => {
    await Promise.all(
      children.map((child) => {
        const ended = once(child, "exit");
        child.kill();
        return ended;
      }),
    );
    await rm(directory, { recursive: true });
  };
  try {
    await run("npm", ["install", "--no-save", "--no-audit", "--no-fund", "--prefix", directory, ...packages]);
    const port = await findFreePort();
    const settings = ["--bind", "127.0.0.1", "--port", String(port), "--save", "", "--dir", directory];
    children.push(spawn(server, settings, { stdio: "ignore" }));
    const worker = fork(join(import.meta.dirname, "bullmq-worker.ts"), [
      directory,
      String(port),
      String(concurrency),
    ]);
    children.push(worker);
    await once(worker, "message");

    const { Queue } = createRequire(join(directory, "package.json"))("bullmq") as BullMq;
    const queue = new Queue(queueName, { connection: { host: "127.0.0.1", port } });
    const opts = { attempts: 3, backoff: { type: "exponential", delay: 1000 } };
    let lastId = 0;
    return {
      raise: async (organization) => {
        const jobs = (organizations[organization] ?? []).map((url) => ({
          name: "delivery",
          data: { id: ++lastId, url },
          opts,
        }));
        await queue.addBulk(jobs);
        return jobs.map(({ data }) => data.id);
      },
      close: async () => {
        await queue.close();
        await closeAll();
      },
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
};
