import type { Occasion, Plan } from "../kind.ts";
import { askToConfirm, unconfirmed } from "./confirmation.ts";
import { defaultMailBudget, giveBackCopies, takeCopies } from "./mail-budget.ts";
import { addresseesOf, fingerprint } from "./recipient.ts";

/** `isForNobody`: no recipient wants it. */
type MailPlan = Plan & { isForNobody?: boolean };

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

/** Decides who of these addresses gets a copy now, and takes the copies out of the budget. */
export const planMail = async (
  addresses: readonly string[],
  { organization, reached, isSingle, isCaused, dashboardUrl, logger }: Occasion,
): Promise<MailPlan> => {
  const { id: org, mailBudget = defaultMailBudget } = organization;
  const willing = (await addresseesOf(org, addresses)).filter(({ consent }) => consent !== "refused");
  const silent = await unconfirmed(org, willing);
  if (silent.length > 0) {
    await askToConfirm(organization, silent, dashboardUrl).catch((error: Error) => {
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
  const addressees = all.filter(({ email }) => !reached.has(fingerprint(org, email)));
  const takenAt = new Date();
  const budget = isSingle ? { hour: singlesOf(mailBudget.hour), day: singlesOf(mailBudget.day) } : mailBudget;
  const purpose = { isCaused };
  const usedUpUntil = await takeCopies(org, addressees.length, budget, takenAt, purpose);
  if (usedUpUntil === undefined) {
    const giveBack = (sent: number): Promise<void> =>
      giveBackCopies(org, addressees.length - sent, takenAt, purpose).catch((error: Error) => {
        // The budget then counts copies that nobody got.
        logger.error("copies could not be given back", { organizationId: org, error });
      });
    return { addressees, giveBack };
  }
  const seconds =
    (usedUpUntil.getTime() - Date.now()) / 1_000 +
    (isSingle ? headStartSeconds + Math.random() * spreadSeconds : 0);
  return { obstacle: { failure: "budget of e-mails is used up", isOperators: true }, seconds };
};
