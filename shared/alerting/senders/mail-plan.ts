import { randomUUID } from "node:crypto";
import type { Logger } from "@aws-lambda-powertools/logger";
import type { Organization } from "../../access/organizations/organization.ts";
import { defaultMailBudget, giveBackCopies, takeCopies } from "../../aws/mail/budget.ts";
import type { Delivery } from "../deliveries/delivery.ts";
import { askToConfirm, unconfirmed } from "../recipients/confirmation.ts";
import { type Addressee, addresseesOf } from "../recipients/recipient.ts";
import { endTurn, takeTurn } from "./copies.ts";

/**
 * `recipients`: who gets a copy in this attempt; none if all have theirs. Whoever has a plan calls `end` with the
 * addresses that were reached, and `giveBack` with the number of copies that were not sent. `obstacle`: why
 * nothing may be sent for `seconds`; `isReason`: the delivery shows it.
 */
export type MailPlan =
  | {
      recipients: Addressee[];
      end: (reached: readonly string[]) => Promise<void>;
      giveBack: (copies: number) => Promise<void>;
    }
  | { obstacle: string; seconds: number; isReason?: boolean };

/** Until another delivery of the event has ended its turn. */
const turnSeconds = 5;

/** Until it is looked again whether somebody has confirmed. */
const confirmationSeconds = 3_600;

/** Spreads what waits for the same hour or day. */
const spreadSeconds = 300;

/** Decides who of an e-mail channel's recipients gets a copy now, and takes the copies out of the budget. */
export const planMail = async (
  owner: Organization,
  row: Delivery,
  addresses: readonly string[],
  { dashboardUrl, logger }: { dashboardUrl: string | undefined; logger: Logger },
): Promise<MailPlan> => {
  const { id: org, mailBudget = defaultMailBudget } = owner;
  const willing = (await addresseesOf(org, addresses)).filter(({ consent }) => consent !== "refused");
  const silent = await unconfirmed(org, willing);
  if (silent.length > 0 && dashboardUrl !== undefined) {
    await askToConfirm(owner, silent, dashboardUrl).catch((error: Error) => {
      // Those who have confirmed get their copy now, and the next alert asks the others.
      logger.error("recipients could not be asked to confirm", { organizationId: org, error });
    });
  }
  const all = willing.filter((each) => !silent.includes(each));
  if (all.length === 0) {
    const obstacle =
      silent.length === 0 ? "all recipients have unsubscribed" : "no recipient has confirmed yet";
    return { obstacle, seconds: confirmationSeconds, isReason: true };
  }
  const again = row.succeededBefore ?? 0;
  // A message to one recipient is sent or not. Of several some may have their copy when an attempt fails.
  const needsTurn = all.length > 1 || (row.firstOfMails !== undefined && again === 0);
  const event = again === 0 ? (row.firstOfMails ?? row.id) : row.id;
  const turn = needsTurn ? { org, event, holder: `${row.id} ${randomUUID()}`, again } : undefined;
  const recipients = turn === undefined ? all : await takeTurn(turn, all);
  if (recipients === undefined) {
    return { obstacle: "another channel is sending this alert", seconds: turnSeconds };
  }
  const end = async (reached: readonly string[]): Promise<void> => {
    if (turn !== undefined) await endTurn(turn, reached);
  };
  if (recipients.length === 0) {
    await end([]);
    return { recipients, end: async () => {}, giveBack: async () => {} };
  }
  const takenAt = new Date();
  const usedUpUntil = await takeCopies(org, recipients.length, mailBudget, takenAt).catch(async (error) => {
    await end([]).catch(() => {});
    throw error;
  });
  if (usedUpUntil === undefined) {
    return { recipients, end, giveBack: (copies) => giveBackCopies(org, copies, takenAt) };
  }
  await end([]);
  const seconds = (usedUpUntil.getTime() - Date.now()) / 1_000 + Math.random() * spreadSeconds;
  return { obstacle: "budget of e-mails is used up", seconds };
};
