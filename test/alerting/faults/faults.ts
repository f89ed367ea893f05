import { TransactionCanceledException } from "@aws-sdk/client-dynamodb";
import type { Chance } from "./chance.ts";

/** How a request breaks. "before" and "after": whether it took effect. "kill": its worker dies. */
export const requestFaults = {
  write: ["kill before", "kill after", "fail before", "fail after", "repeat", "conflict"],
  send: ["kill before", "kill after", "fail before", "fail after", "repeat", "drop"],
  /** Workers that do not pause meet only faults that the product does not wait after: the step must end. */
  unpaused: ["kill before", "kill after", "fail before", "fail after", "repeat"],
} as const;

/** Every kind of fault that a run of some size meets. */
export const faultKinds: readonly string[] = [
  ...requestFaults.write.map((fault) => `write: ${fault}`),
  ...requestFaults.send.map((fault) => `send: ${fault}`),
  "post: kill",
  "queue: delivered twice",
  "queue: message not deleted",
  "schedule: run missed",
];

/** Decides which steps break, and counts how they broke. */
export class Faults {
  readonly counts: Record<string, number> = {};
  readonly #chance: Chance;
  readonly #rate: number;

  /** `rate`: the probability that a step breaks. */
  constructor(chance: Chance, rate: number) {
    this.#chance = chance;
    this.#rate = rate;
  }

  strikes(name: string): boolean {
    return this.#chance.draw(name) < this.#rate;
  }

  note(kind: string): void {
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
  }
}

export const injectedError = (name: string): Error => Object.assign(new Error("injected"), { name });

export const injectedConflict = (): Error =>
  new TransactionCanceledException({
    message: "injected",
    $metadata: {},
    CancellationReasons: [{ Code: "TransactionConflict" }],
  });
