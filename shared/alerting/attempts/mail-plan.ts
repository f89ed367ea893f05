import type { Logger } from "@aws-lambda-powertools/logger";
import type { Organization } from "../../access/organizations/organization.ts";
import { askToConfirm, unconfirmed } from "../channels/confirmation.ts";
import type { Failure } from "../channels/failing.ts";
import { defaultMailBudget, giveBackCopies, takeCopies } from "../channels/mail-budget.ts";
import type { Delivery } from "../deliveries/delivery.ts";
import { type Addressee, addresseesOf, fingerprint } from "../kinds/recipient.ts";

/**
 * `recipients`: who gets a copy in this attempt; none if all have theirs. `giveBack` is told how many were
 * sent, and gives the others back to the budget; it never throws. `obstacle`: why nothing may be sent for
 * `seconds`; `isForNobody`: no recipient wants it.
 */
type MailPlan =
  | { recipients: Addressee[]; giveBack: (sent: number) => Promise<void> }
  | { obstacle: Failure; seconds: number; isForNobody?: boolean };

/** Until it is looked again whether somebody has confirmed. */
const confirmationSeconds = 3_600;

/**
 * Messages about single addresses that wait for the same hour or day are spread. The re-dispatch sends all
 * others before.
 */
const headStartSeconds = 120;
const spreadSeconds = 300;

/**
 * Messages about single addresses take at most this share of an hour and a day. Summaries, scan errors and
 * notices may use all of it, and go first in an hour. A message to more recipients than the share is the
 * first of its hour, or waits (mail-budget.ts).
 */
const shareOfSingles = 0.9;

/** Of a budget of one, that one. */
const singlesOf = (copies: number): number =>
  Math.max(Math.min(1, copies), Math.floor(copies * shareOfSingles));

/**
 * Whether everybody with a session or a key can cause it: all kinds but findings, which people may send again
 * by hand.
 */
const isCaused = ({ event, attemptLimit }: Delivery): boolean =>
  event.type === "scan_error" || event.type === "scan_complete" || attemptLimit !== undefined;

/** Decides who of an e-mail channel's recipients gets a copy now, and takes the copies out of the budget. */
export const planMail = async (
  owner: Organization,
  row: Delivery,
  addresses: readonly string[],
  { dashboardUrl, logger }: { dashboardUrl: string; logger: Logger },
): Promise<MailPlan> => {
  const { id: org, mailBudget = defaultMailBudget } = owner;
  const willing = (await addresseesOf(org, addresses)).filter(({ consent }) => consent !== "refused");
  const silent = await unconfirmed(org, willing);
  if (silent.length > 0) {
    await askToConfirm(owner, silent, dashboardUrl).catch((error: Error) => {
      // Those who have confirmed get their copy now, and the next alert asks the others.
      logger.error("recipients could not be asked to confirm", { organizationId: org, error });
    });
  }
  const all = willing.filter((each) => !silent.includes(each));
  if (all.length === 0) {
    const failure =
      silent.length === 0 ? "all recipients have unsubscribed" : "no recipient has confirmed yet";
    return { obstacle: { failure }, seconds: confirmationSeconds, isForNobody: true };
  }
  const recipients = all.filter(({ email }) => row.reached?.has(fingerprint(org, email)) !== true);
  const takenAt = new Date();
  const isSingle = row.event.type === "breach" || row.event.type === "owner";
  const budget = isSingle ? { hour: singlesOf(mailBudget.hour), day: singlesOf(mailBudget.day) } : mailBudget;
  const purpose = { isCaused: isCaused(row) };
  const usedUpUntil = await takeCopies(org, recipients.length, budget, takenAt, purpose);
  if (usedUpUntil === undefined) {
    const giveBack = (sent: number): Promise<void> =>
      giveBackCopies(org, recipients.length - sent, takenAt, purpose).catch((error: Error) => {
        // The budget then counts copies that nobody got.
        logger.error("copies could not be given back", { organizationId: org, error });
      });
    return { recipients, giveBack };
  }
  const seconds =
    (usedUpUntil.getTime() - Date.now()) / 1_000 +
    (isSingle ? headStartSeconds + Math.random() * spreadSeconds : 0);
  return { obstacle: { failure: "budget of e-mails is used up", isOperators: true }, seconds };
};
