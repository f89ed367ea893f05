/**
 * Random faults of a running service: workers and the whole runtime are killed, messages are lost and
 * doubled.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import type { LocalService } from "./service.ts";

/** `lost` and `doubled` are probabilities for each message, from 0 to 1. */
export type QueueFaults = { seed: number; lost: number; doubled: number };

export type ChaosSettings = QueueFaults & {
  /** The mean time between two kills of a function's instance. */
  killEveryMilliseconds: number;
  /**
   * How many instances of each worker are killed at most: a scan without progress for too long ends as
   * failed.
   */
  maximumKills: Readonly<Record<string, number>>;
  /** When the whole runtime is killed once, and all messages with it: milliseconds after `begin`. */
  killRuntimeAt: number;
};

export type Harm = { instances: Record<string, number>; runtimes: number; lost: number; doubled: number };

/** A generator of pseudorandom numbers from 0 to below 1 (mulberry32). */
export const randomFrom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/**
 * Starts a service that can be harmed. `start` starts it with the given environment variables; with a port,
 * `start` starts a killed runtime again, on that port and the same data.
 */
export const startChaos = async (
  settings: ChaosSettings,
  start: (variables: Record<string, string>, port: number | undefined) => Promise<LocalService>,
): Promise<{
  service: () => LocalService;
  /** Starts to harm the service. */
  begin: () => void;
  /** Stops harming the service; resolves when the runtime is ready, with what was done to it. */
  stop: () => Promise<Harm>;
}> => {
  const random = randomFrom(settings.seed);
  const harm: Harm = { instances: {}, runtimes: 0, lost: 0, doubled: 0 };
  /** Of a service whose queues lose and double messages. */
  const variables = () => ({
    QUEUE_FAULTS: JSON.stringify({ ...settings, seed: settings.seed + 1 + harm.runtimes }),
    NODE_OPTIONS: `--import ${join(import.meta.dirname, "lossy-queues.ts")}`,
  });
  let service = await start(variables(), undefined);
  let isOver = false;
  let running: Promise<void> = Promise.resolve();

  const countMessages = (): void => {
    const output = service.output();
    harm.lost += output.match(/^queue lost /gm)?.length ?? 0;
    harm.doubled += output.match(/^queue doubled /gm)?.length ?? 0;
  };

  const killRuntime = async (): Promise<void> => {
    const ended = once(service.process, "exit");
    service.process.kill("SIGKILL");
    await ended;
    harm.runtimes++;
    countMessages();
    service = await start(variables(), service.port);
  };

  const killInstance = async (): Promise<void> => {
    const instances = (await instancesOf(service.process.pid ?? 0)).filter(
      ({ worker }) => (harm.instances[worker] ?? 0) < (settings.maximumKills[worker] ?? 0),
    );
    const victim = instances[Math.floor(random() * instances.length)];
    if (victim === undefined) return;
    try {
      process.kill(victim.pid, "SIGKILL");
      harm.instances[victim.worker] = (harm.instances[victim.worker] ?? 0) + 1;
    } catch {
      // The instance has ended by itself.
    }
  };

  const harmOn = async (): Promise<void> => {
    const began = Date.now();
    while (!isOver) {
      await setTimeout(2 * random() * settings.killEveryMilliseconds);
      if (isOver) return;
      const isTime = harm.runtimes === 0 && Date.now() - began >= settings.killRuntimeAt;
      await (isTime ? killRuntime() : killInstance());
    }
  };

  return {
    service: () => service,
    begin: () => {
      running = harmOn();
      // `stop` reports an error.
      running.catch(() => {});
    },
    stop: async () => {
      isOver = true;
      await running;
      countMessages();
      return harm;
    },
  };
};

/** The processes in which a local service runs functions, with the functions' names. */
export const instancesOf = async (servicePid: number): Promise<{ pid: number; worker: string }[]> => {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout.split("\n").flatMap((line) => {
    const [, pid, parent, args = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    if (Number(parent) !== servicePid || !args.includes("lambda-instance")) return [];
    // A function's name begins with the stack's.
    const [, worker] = /"functionName":"breach-monitor-[^-"]+-([^"]*)"/.exec(args) ?? [];
    return worker === undefined ? [] : [{ pid: Number(pid), worker }];
  });
};
