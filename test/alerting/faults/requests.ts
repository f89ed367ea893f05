import { setTimeout as pause } from "node:timers/promises";
import {
  ChangeMessageVisibilityCommand,
  ReceiveMessageCommand,
  type SendMessageBatchCommand,
  type SendMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { deliveries } from "../../../shared/alerting/deliveries/delivery.ts";
import * as clients from "../../../shared/aws/table/clients.ts";
import type { Chance } from "./chance.ts";
import { connectTable } from "./engine.ts";
import { type Faults, injectedConflict, injectedError, requestFaults } from "./faults.ts";
import { type Invocation, type Invocations, nameStep, never, unlessOver } from "./invocations.ts";
import type { Queues } from "./queues.ts";
import type { Witnesses } from "./witnesses.ts";

type Parts = {
  chance: Chance;
  faults: Faults;
  invocations: Invocations;
  queues: Queues;
  witnesses: Witnesses;
};

type Command = Parameters<ReturnType<typeof connectTable>["send"]>[0];
type Step = {
  kind: "write" | "send";
  /** The id that the request is about. */
  id: number;
  isTransaction: boolean;
};

/** The product's requests to the table and the queues, each of which may break. */
export class Requests {
  readonly #parts: Parts;
  readonly #engine: ReturnType<typeof connectTable>;
  #restore: (() => void)[] = [];

  /** `url`: the address of the table engine. */
  constructor(url: string, parts: Parts) {
    this.#parts = parts;
    this.#engine = connectTable(url);
  }

  /** From now on requests of invocations break, and their Math.random follows the seed. */
  intercept(): void {
    this.#interceptTable();
    this.#interceptQueues();
    this.#seedRandom();
  }

  async restore(): Promise<void> {
    for (const restore of this.#restore.splice(0)) restore();
    await this.#engine.close();
  }

  #interceptTable(): void {
    const [wire, documents] = [clients.wire(), clients.documents()];
    const send = { wire: unlessOver(wire.send), documents: unlessOver(documents.send) };
    this.#restore.push(() => {
      wire.send = send.wire as typeof wire.send;
      documents.send = send.documents as typeof documents.send;
    });
    const sendToEngine = (command: Command) => this.#counted(() => this.#engine.send(command));
    wire.send = unlessOver(sendToEngine) as typeof wire.send;
    documents.send = ((command: Command) => {
      const isTransaction = command instanceof TransactWriteCommand;
      return this.#step({ kind: "write", id: idOf(command), isTransaction }, async () => {
        const reply = await sendToEngine(command);
        if (isTransaction) this.#parts.witnesses.record(command);
        return reply;
      });
    }) as typeof documents.send;
  }

  #interceptQueues(): void {
    const send = unlessOver(SQSClient.prototype.send);
    this.#restore.push(() => {
      SQSClient.prototype.send = send as typeof SQSClient.prototype.send;
    });
    SQSClient.prototype.send = unlessOver(
      (
        command:
          | SendMessageCommand
          | SendMessageBatchCommand
          | ReceiveMessageCommand
          | ChangeMessageVisibilityCommand,
      ) => {
        // The simulation starts an invocation for each message, so that polling finds none.
        if (command instanceof ReceiveMessageCommand) return pause(50, { Messages: [] });
        if (command instanceof ChangeMessageVisibilityCommand) {
          this.#parts.queues.showAgain(command.input);
          return Promise.resolve({});
        }
        const { QueueUrl } = command.input;
        const entries = "Entries" in command.input ? (command.input.Entries ?? []) : [command.input];
        const messages = entries as { MessageBody: string; DelaySeconds?: number }[];
        const { deliveryId = 0 } = JSON.parse(messages[0]?.MessageBody ?? "{}") as { deliveryId?: number };
        return this.#step({ kind: "send", id: deliveryId, isTransaction: false }, async () => {
          for (const { MessageBody, DelaySeconds } of messages) {
            this.#parts.queues.enqueue(QueueUrl, MessageBody, DelaySeconds);
          }
          return {};
        });
      },
    ) as typeof SQSClient.prototype.send;
  }

  #seedRandom(): void {
    const { random } = Math;
    this.#restore.push(() => {
      Math.random = random;
    });
    Math.random = () => {
      const invocation = this.#parts.invocations.current.getStore();
      return invocation === undefined ? random() : this.#parts.chance.draw(`${invocation.name}/random`);
    };
  }

  /** Stops an invocation in front of a request, and may break the request. */
  async #step<R>({ kind, id, isTransaction }: Step, perform: () => Promise<R>): Promise<R> {
    const { chance, invocations, witnesses } = this.#parts;
    const invocation = invocations.current.getStore();
    if (invocation === undefined) return perform();
    if (invocation.over) return never;
    // Invocations that do not pause take many steps at once, so the name of each says what it is about.
    const ordinal = invocation.pauses ? "" : ` ${witnesses.ordinalOf(id)}`;
    const name = nameStep(invocation, `${kind}${ordinal}`);
    if (invocation.pauses) {
      await new Promise<void>((goOn) => invocations.pause(invocation, chance.delay(name), goOn));
    }
    const fault = this.#faultOf(invocation, kind, name);
    switch (fault) {
      case "kill before":
        return invocations.kill(invocation);
      case "fail before":
        throw injectedError("InternalServerError");
      case "conflict":
        throw isTransaction ? injectedConflict() : injectedError("TransactionConflictException");
      case "drop":
        return { MessageId: "dropped" } as R;
    }
    const reply = await perform();
    if (kind === "write" && invocation.pauses) await this.#observe(invocation);
    if (invocation.over) return never;
    switch (fault) {
      case "kill after":
        return invocations.kill(invocation);
      case "fail after":
        throw injectedError("InternalServerError");
      case "repeat":
        return perform();
    }
    return reply;
  }

  #faultOf(invocation: Invocation, kind: "write" | "send", name: string): string | undefined {
    const { chance, faults } = this.#parts;
    if (!faults.strikes(`${name}/broken`)) return undefined;
    const choices: readonly string[] = requestFaults[invocation.pauses ? kind : "unpaused"];
    const fault = chance.pick(choices, `${name}/how`);
    faults.note(`${kind}: ${fault}`);
    return fault;
  }

  /** Checks the row that an invocation has just written. */
  async #observe({ name, lane }: Invocation): Promise<void> {
    const { invocations, witnesses } = this.#parts;
    const witness = witnesses.get(Number(lane));
    if (witness === undefined) return;
    const row = await invocations.current.exit(() => deliveries.get(witnesses.org, witness.id));
    witnesses.checkRow(witness, row, name.startsWith("by hand"));
  }

  async #counted<R>(perform: () => Promise<R>): Promise<R> {
    const invocation = this.#parts.invocations.current.getStore();
    if (invocation === undefined) return perform();
    invocation.requestsInFlight++;
    try {
      return await perform();
    } finally {
      invocation.requestsInFlight--;
    }
  }
}

/** The id in the key that a command writes; NaN when it writes several rows. */
const idOf = (command: unknown): number =>
  Number((command as { input: { Key?: { sk: string } } }).input.Key?.sk);
