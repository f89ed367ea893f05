import { AsyncLocalStorage } from "node:async_hooks";
import { type Clock, second } from "./clock.ts";

export const functionTimeout = 40 * second;

type Stop = { kind: "pause"; delay: number; goOn: () => void } | { kind: "end"; outcome: Outcome };
type Outcome = "done" | "failed" | "dead";

/** One run of a worker. */
export type Invocation = {
  name: string;
  /** The id of its delivery, or `common`: invocations of one lane take turns, one step at a time. */
  lane: string;
  /** Whether it pauses at its steps. The re-dispatch, which works on many deliveries at once, does not. */
  pauses: boolean;
  /** It has ended, in whatever way, and none of its requests takes effect any more. */
  over: boolean;
  /** How often it came to each step, by the step's name. */
  counts: Map<string, number>;
  /** It was killed in one of several concurrent requests, and ends when the others are through. */
  hangs: boolean;
  requestsInFlight: number;
  stops: Stop[];
  notify: (() => void) | undefined;
  /** The post whose response it waits for. */
  post: { close: () => void } | undefined;
};

const current = new AsyncLocalStorage<Invocation>();

/**
 * Sends nothing for code of an invocation that is over. Such code still runs in this process: its timers fire in
 * real time, even after its simulation has ended.
 */
export const unlessOver = <A extends unknown[], R>(send: (...given: A) => Promise<R>) =>
  async function (this: unknown, ...given: A): Promise<R> {
    return current.getStore()?.over ? never : send.apply(this, given);
  };

/** Runs workers step by step: each stops in front of its next step until the clock lets it go on. */
export class Invocations {
  /** The invocation that the running code belongs to. */
  readonly current = current;
  readonly #unfinished = new Set<Invocation>();
  /** The invocation that works on a delivery at this moment, by the delivery's id. */
  readonly atWork = new Map<number, Invocation>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts a worker and follows it to its first stop. Lambda would kill it at the function's timeout. */
  async start(
    { name, lane, pauses = true }: { name: string; lane: string; pauses?: boolean },
    work: () => Promise<unknown>,
    onEnd: (outcome: Outcome) => void = () => undefined,
  ): Promise<void> {
    const invocation: Invocation = {
      name,
      lane,
      pauses,
      over: false,
      counts: new Map(),
      hangs: false,
      requestsInFlight: 0,
      stops: [],
      notify: undefined,
      post: undefined,
    };
    this.#clock.at(this.#clock.now + functionTimeout, lane, async () => this.end(invocation, "dead"));
    this.#unfinished.add(invocation);
    this.atWork.set(Number(lane), invocation);
    this.current.run(invocation, () => {
      work().then(
        () => this.end(invocation, "done"),
        () => this.end(invocation, "failed"),
      );
    });
    await this.#follow(invocation, onEnd);
    this.atWork.delete(Number(lane));
  }

  end(invocation: Invocation, outcome: Outcome): void {
    if (invocation.over) return;
    invocation.over = true;
    this.#unfinished.delete(invocation);
    invocation.post?.close();
    stop(invocation, { kind: "end", outcome });
  }

  endAll(): void {
    for (const invocation of this.#unfinished) this.end(invocation, "dead");
  }

  /** Kills an invocation. One that does not pause ends only when its other requests are through. */
  kill(invocation: Invocation): Promise<never> {
    if (invocation.pauses) this.end(invocation, "dead");
    else {
      invocation.hangs = true;
      invocation.notify?.();
    }
    return never;
  }

  /** Lets an invocation stop; `goOn` is called `delay` later, unless the invocation is over by then. */
  pause(invocation: Invocation, delay: number, goOn: () => void): void {
    stop(invocation, { kind: "pause", delay, goOn });
  }

  /** Waits for the next stop of an invocation, and plans how it goes on from there. */
  async #follow(invocation: Invocation, onEnd: (outcome: Outcome) => void): Promise<void> {
    const stop = await this.#nextStop(invocation);
    if (stop.kind === "end") return onEnd(stop.outcome);
    this.#clock.at(this.#clock.now + stop.delay, invocation.lane, async () => {
      if (invocation.over) return;
      const id = Number(invocation.lane);
      this.atWork.set(id, invocation);
      stop.goOn();
      await this.#follow(invocation, onEnd);
      this.atWork.delete(id);
    });
  }

  async #nextStop(invocation: Invocation): Promise<Stop> {
    for (let quiet = 0; ; ) {
      const stop = invocation.stops.shift();
      if (stop !== undefined) return stop;
      if (!invocation.hangs) {
        await new Promise<void>((resolve) => {
          invocation.notify = resolve;
        });
        continue;
      }
      await new Promise((resolve) => setImmediate(resolve));
      quiet = invocation.requestsInFlight === 0 ? quiet + 1 : 0;
      if (quiet > 5) this.end(invocation, "dead");
    }
  }
}

/** What code of an invocation that is over waits for. */
export const never = new Promise<never>(() => undefined);

/** A name for this step of an invocation, different each time. */
export const nameStep = (invocation: Invocation, kind: string): string => {
  const count = invocation.counts.get(kind) ?? 0;
  invocation.counts.set(kind, count + 1);
  return `${invocation.name}/${kind}/${count}`;
};

const stop = (invocation: Invocation, stop: Stop): void => {
  invocation.stops.push(stop);
  invocation.notify?.();
};
