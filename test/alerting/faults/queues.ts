import type { ChangeMessageVisibilityCommandInput } from "@aws-sdk/client-sqs";
import type { Context, SQSEvent } from "aws-lambda";
import { handler as deliver } from "../../../functions/deliver-alert/handler.ts";
import { type SqsQueue, SqsStore } from "../../../local/sqs/fauxqs.ts";
import type { Chance } from "./chance.ts";
import type { Clock } from "./clock.ts";
import type { Faults } from "./faults.ts";
import { functionTimeout, type Invocations } from "./invocations.ts";
import type { Witness, Witnesses } from "./witnesses.ts";

type Parts = {
  clock: Clock;
  chance: Chance;
  faults: Faults;
  invocations: Invocations;
  witnesses: Witnesses;
};

type ReceivedMessage = { MessageId: string; ReceiptHandle: string; Body: string };

/** The queues of deliveries, and what starts a worker for each of their messages. */
export class Queues {
  readonly #parts: Parts;
  readonly #store = createStore();
  readonly #queues = ["deliveries", "delivery-retries"].map(
    (name) => this.#store.getQueueByName(name) as SqsQueue,
  );

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Puts a message into the queue with this url. */
  enqueue(url: string | undefined, body: string, delaySeconds: number | undefined): void {
    const queue = this.#queues.find((each) => each.url === url);
    queue?.enqueue(SqsStore.createMessage(body, {}, delaySeconds));
  }

  /** Makes a message visible again after this time. */
  showAgain({ ReceiptHandle = "", VisibilityTimeout = 0 }: ChangeMessageVisibilityCommandInput): void {
    for (const queue of this.#queues) queue.changeVisibility(ReceiptHandle, VisibilityTimeout);
  }

  /** Starts a worker for every visible message, now and then two. */
  startWorkers(): void {
    for (const queue of this.#queues) {
      queue.processTimers();
      while (queue.messages.length > 0) {
        for (const message of queue.dequeue(10, undefined, (arn) => this.#store.getQueueByArn(arn))) {
          this.#startWorker(queue, message);
        }
      }
    }
  }

  /** When the next message becomes visible; Infinity when there is none. */
  nextMessageAt(): number {
    const times = this.#queues.flatMap((queue) => [
      ...queue.delayedMessages.map(({ delayUntil }) => delayUntil ?? 0),
      ...[...queue.inflightMessages.values()].map(({ visibilityDeadline }) => visibilityDeadline),
    ]);
    return times.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...times);
  }

  #startWorker(queue: SqsQueue, message: ReceivedMessage): void {
    const { clock, chance, faults, witnesses } = this.#parts;
    const { deliveryId } = JSON.parse(message.Body) as { deliveryId: number };
    const witness = witnesses.get(deliveryId);
    if (witness === undefined) {
      witnesses.violations.push(`A message of the unknown delivery ${deliveryId}`);
      return;
    }
    const begin = (): void => {
      const name = `delivery ${witnesses.ordinalOf(deliveryId)}/${witness.invocations++}`;
      const time = clock.now + chance.delay(name) / 5;
      clock.at(time, String(deliveryId), () => this.#work(name, queue, message, witness));
      if (faults.strikes(`${name}/broken`)) {
        faults.note("queue: delivered twice");
        begin();
      }
    };
    begin();
  }

  async #work(name: string, queue: SqsQueue, message: ReceivedMessage, { id }: Witness): Promise<void> {
    const { clock, faults, invocations } = this.#parts;
    await invocations.start(
      { name, lane: String(id) },
      () => deliver(eventWith(message), contextUntil(clock, clock.now + functionTimeout)),
      (outcome) => {
        if (outcome !== "done") return;
        if (faults.strikes(`${name}/delete`)) faults.note("queue: message not deleted");
        else queue.deleteMessage(message.ReceiptHandle);
      },
    );
  }
}

/** The context of an invocation that Lambda ends at `deadline`. */
export const contextUntil = (clock: Clock, deadline: number): Context =>
  ({ getRemainingTimeInMillis: () => deadline - clock.now }) as unknown as Context;

/** The queues that the workers use; the url of each is its name. */
const createStore = (): SqsStore => {
  const store = new SqsStore();
  const redrive = { deadLetterTargetArn: "dead-letters", maxReceiveCount: 5 };
  for (const name of ["deliveries", "delivery-retries"]) {
    store.createQueue(name, name, name, { VisibilityTimeout: "240", RedrivePolicy: JSON.stringify(redrive) });
  }
  store.createQueue("dead-letters", "dead-letters", "dead-letters");
  return store;
};

const eventWith = ({ MessageId, ReceiptHandle, Body }: ReceivedMessage) =>
  ({
    Records: [
      {
        messageId: MessageId,
        receiptHandle: ReceiptHandle,
        body: Body,
        attributes: { ApproximateReceiveCount: "1" },
        messageAttributes: {},
        eventSource: "aws:sqs",
      },
    ],
  }) as unknown as SQSEvent;
