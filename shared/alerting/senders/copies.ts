/**
 * One address gets one copy of an event, however many e-mail channels name it and however often a delivery is
 * tried. The deliveries of an event send one after the other, each to those whom none has sent to yet.
 */
import { setTimeout } from "node:timers/promises";
import { condition } from "../../aws/table/condition.ts";
import { keys, timeToLive } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { attemptLeaseSeconds, secondsAfter } from "../../contract/alert-timing.ts";
import { fingerprint } from "../recipients/recipient.ts";

/** `sent`: fingerprints of the addresses that have their copy. `holder`: the attempt that is sending now. */
type Copies = { sent?: Set<string>; holder?: string; until?: string };

/**
 * `event`: the id of the event's first delivery by e-mail. `again`: how many times this delivery has succeeded before; a manual
 * redelivery gets a row of its own, so that recipients receive another copy. `holder`: another one for each attempt, since
 * two workers can have messages of one delivery.
 */
export type Turn = { org: number; event: number; holder: string; again: number };

/** Longer than any delivery of the event is open. */
const keptSeconds = 7 * 86_400;

/** A turn takes about a tenth of a second; an event has at most twenty. */
const patienceMilliseconds = 2_000;
const pauseMilliseconds = 100;

/**
 * Waits up to two seconds for the turn of an attempt and returns those of `recipients` who have no copy yet.
 * Undefined when another attempt still has its turn. A turn ends by `endTurn`, or with the lease of an attempt.
 */
export const takeTurn = async <To extends { email: string }>(
  { org, event, holder, again }: Turn,
  recipients: readonly To[],
): Promise<To[] | undefined> => {
  const giveUpAt = Date.now() + patienceMilliseconds;
  for (;;) {
    const now = new Date();
    const taking = await table.attempt(
      table.update<Copies>(keys.mailCopies(org, event, again), {
        set: { holder, until: secondsAfter(now, attemptLeaseSeconds) },
        setOnce: { [timeToLive]: Math.floor(now.getTime() / 1_000) + keptSeconds },
        if: condition("attribute_not_exists(#holder) OR #holder = :holder OR #until < :now", {
          holder,
          now: now.toISOString(),
        }),
      }),
    );
    if (taking.written) {
      const { sent = new Set() } = taking.value;
      return recipients.filter(({ email }) => !sent.has(fingerprint(org, email)));
    }
    if (Date.now() > giveUpAt) return undefined;
    await setTimeout(pauseMilliseconds);
  }
};

/** Ends a turn, and notes who got a copy in it. Nothing happens when the turn is another attempt's by now. */
export const endTurn = async (
  { org, event, holder, again }: Turn,
  reached: readonly string[],
): Promise<void> => {
  await table.attempt(
    table.update(keys.mailCopies(org, event, again), {
      add: { sent: new Set(reached.map((address) => fingerprint(org, address))) },
      remove: ["holder", "until"],
      if: condition("#holder = :holder", { holder }),
    }),
  );
};
