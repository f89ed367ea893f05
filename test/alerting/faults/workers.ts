/** Workers in this process that die, stall, and whose requests to the table and the queues break. */
import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import { SendMessageBatchCommand, SendMessageCommand, SQSClient } from "@aws-sdk/client-sqs";
import { intercept, type Request } from "../../aws/table/intercept.ts";
import type { Chance } from "./chance.ts";

/** How a request breaks. "before" and "after": whether it took effect. */
const faults = {
  write: ["death before", "death after", "failure before", "failure after", "repeat", "conflict"],
  send: ["death before", "death after", "failure before", "failure after", "repeat", "loss"],
} as const;
type Kind = keyof typeof faults;
type Fault = (typeof faults)[Kind][number];

export const faultKinds = Object.entries(faults).flatMap(([kind, all]) =>
  all.map((fault) => `${kind}: ${fault}`),
);

type Worker = { name: string; requests: number; isDead: boolean; die: () => void };

/** What code of a dead worker waits for. It still runs in this process. */
const never = new Promise<never>(() => undefined);

const writes = /\.(?:TransactWriteItems|UpdateItem|PutItem|DeleteItem)$/;

export class Workers {
  /** How often each kind of fault happened. */
  readonly counts: Record<string, number> = {};
  readonly #current = new AsyncLocalStorage<Worker>();
  readonly #chance: Chance;
  readonly #rate: number;

  /** `rate`: the probability that a step breaks. */
  constructor(chance: Chance, rate: number) {
    this.#chance = chance;
    this.#rate = rate;
  }

  /** Whether what has this name breaks; it is counted as `kind`. */
  strikes(kind: string, name: string, rate = this.#rate): boolean {
    const doesStrike = this.#chance.draw(`${kind}, ${name}`) < rate;
    if (doesStrike) this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    return doesStrike;
  }

  /** Runs a worker until it ends or dies. What a dead one asks for does not happen. Its name is unlike all others. */
  run(name: string, act: () => Promise<unknown>): Promise<"done" | "failed" | "dead"> {
    return new Promise((resolve) => {
      const worker: Worker = {
        name,
        requests: 0,
        isDead: false,
        die: () => {
          worker.isDead = true;
          resolve("dead");
        },
      };
      this.#current.run(worker, () =>
        act().then(
          () => resolve("done"),
          () => resolve("failed"),
        ),
      );
    });
  }

  /** From now on requests of workers break, until the returned function is called. */
  intercept(): () => void {
    const restore = intercept<Request>("finalizeRequest", (next) => (sent) => {
      const operation = String(sent.request.headers["x-amz-target"]);
      return this.#request(writes.test(operation) ? "write" : "read", () => next(sent), operation);
    });
    const send = SQSClient.prototype.send as (this: SQSClient, command: unknown) => Promise<unknown>;
    const sendOrBreak = (client: SQSClient, command: unknown): Promise<unknown> => {
      const isSending = command instanceof SendMessageCommand || command instanceof SendMessageBatchCommand;
      return this.#request(isSending ? "send" : "read", () => send.call(client, command));
    };
    SQSClient.prototype.send = function (this: SQSClient, command: unknown) {
      return sendOrBreak(this, command);
    } as typeof SQSClient.prototype.send;
    return () => {
      restore();
      SQSClient.prototype.send = send as typeof SQSClient.prototype.send;
    };
  }

  async #request<R>(kind: Kind | "read", perform: () => Promise<R>, operation = ""): Promise<R> {
    const worker = this.#current.getStore();
    if (worker?.isDead) return never;
    if (worker === undefined || kind === "read") return perform();
    const name = `${worker.name}, request ${++worker.requests}`;
    // Others get ahead of it.
    if (this.strikes("stall", name)) await pause(this.#chance.draw(`${name}, pause`) * 20);
    const fault = this.#faultOf(kind, name);
    if (fault === "death before") worker.die();
    if (worker.isDead) return never;
    if (fault === "failure before") throw brokenBy("InternalServerError");
    if (fault === "conflict") throw conflictOf(operation);
    if (fault === "loss") return {} as R;
    const reply = await perform();
    if (fault === "death after") worker.die();
    if (worker.isDead) return never;
    if (fault === "failure after") throw brokenBy("InternalServerError");
    return fault === "repeat" ? perform() : reply;
  }

  #faultOf(kind: Kind, name: string): Fault | undefined {
    if (this.#chance.draw(name) >= this.#rate) return undefined;
    const fault = this.#chance.pick<Fault>(faults[kind], `${name}, how`);
    this.counts[`${kind}: ${fault}`] = (this.counts[`${kind}: ${fault}`] ?? 0) + 1;
    return fault;
  }
}

const brokenBy = (name: string): Error => Object.assign(new Error("injected"), { name });

const conflictOf = (operation: string): Error =>
  operation.endsWith("TransactWriteItems")
    ? new TransactionCanceledException({
        message: "injected",
        $metadata: {},
        CancellationReasons: [{ Code: "TransactionConflict" }],
      })
    : brokenBy("TransactionConflictException");
