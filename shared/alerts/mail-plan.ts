import { defaultMailBudget, takeCopies } from "../mail/budget.ts";
import type { Organization } from "../organizations/organization.ts";
import { endTurn, takeTurn } from "./copies.ts";
import type { Delivery } from "./delivery.ts";

/**
 * `recipients`: who gets a copy in this attempt; none if others' copies have reached all of them. Whoever has
 * a plan calls `end`, saying whether they were reached. `obstacle`: why nothing may be sent for `seconds`.
 */
export type MailPlan =
  | { recipients: string[]; end: (isReached: boolean) => Promise<void> }
  | { obstacle: string; seconds: number };

/** Until another delivery of the event has ended its turn. */
const turnSeconds = 5;

/** Spreads what waits for the same hour or day. */
const spreadSeconds = 300;

/** Decides who of an e-mail channel's recipients gets a copy now, and takes the copies out of the budget. */
export const planMail = async (
  { id: org, mailBudget = defaultMailBudget }: Organization,
  row: Delivery,
  all: readonly string[],
): Promise<MailPlan> => {
  // Who delivers an alert again by hand wants it again.
  const isShared = row.firstOfMails !== undefined && row.succeededBefore === undefined;
  const turn = isShared ? { org, event: row.firstOfMails ?? 0, delivery: row.id } : undefined;
  const recipients = turn === undefined ? [...all] : await takeTurn(turn, all);
  if (recipients === undefined) {
    return { obstacle: "another channel is sending this alert", seconds: turnSeconds };
  }
  const end = async (isReached: boolean): Promise<void> => {
    if (turn !== undefined) await endTurn(turn, isReached ? recipients : []);
  };
  if (recipients.length === 0) return { recipients, end };
  const usedUpUntil = await takeCopies(org, recipients.length, mailBudget, new Date());
  if (usedUpUntil === undefined) return { recipients, end };
  await end(false);
  const seconds = (usedUpUntil.getTime() - Date.now()) / 1_000 + Math.random() * spreadSeconds;
  return { obstacle: "budget of e-mails is used up", seconds };
};
