import type { Occasion, Plan } from "../kind.ts";
import { askToConfirm, unconfirmed } from "./confirmation.ts";
import { bookHour, defaultMailBudget, giveBackCopies, isHourOf, takeCopies } from "./mail-budget.ts";
import { addresseesOf, fingerprint } from "./recipient.ts";

/** `isForNobody`: no recipient wants it. */
type MailPlan = Plan & { isForNobody?: boolean };

/** Until it is looked again whether somebody has confirmed. */
const confirmationSeconds = 3_600;

/**
 * Messages about single addresses that wait for the same hour or day are spread. The urgent ones among them have gone
 * out after the head start. The re-dispatch sends all others before.
 */
const headStartSeconds = 120;
const spreadSeconds = 300;

/** Decides who of these addresses gets a copy now, and takes the copies out of the budget. */
export const planMail = async (
  addresses: readonly string[],
  { organization, told, reached, isSingle, isUrgent, isCaused, bookedFrom, dashboardUrl, logger }: Occasion,
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
  const isForOwner = told.owner !== undefined;
  const isBooked = isForOwner && isHourOf(bookedFrom, takenAt);
  const purpose = { isForOwner, isCaused, isUrgent, isSingle, isBooked };
  const usedUpUntil = await takeCopies(org, addressees.length, mailBudget, takenAt, purpose);
  if (usedUpUntil === undefined) {
    const giveBack = (sent?: number): Promise<void> => {
      // An attempt ends what was booked for it. Without one, another worker may use it.
      const given = sent === undefined ? purpose : { ...purpose, isBooked: false };
      return giveBackCopies(org, addressees.length - (sent ?? 0), takenAt, given).catch((error: Error) => {
        // The budget then counts copies that nobody got.
        logger.error("copies could not be given back", { organizationId: org, error });
      });
    };
    return { addressees, giveBack };
  }
  const obstacle = { failure: "budget of e-mails is used up", isOperators: true };
  const spread = isUrgent ? headStartSeconds : spreadSeconds;
  const behind = isSingle ? (isUrgent ? 0 : headStartSeconds) + Math.random() * spread : 0;
  const secondsTo = (time: Date): number => (time.getTime() - Date.now()) / 1_000 + behind;
  // Without a budget none ever has its turn.
  const isOfTurn = mailBudget.hour > 0 && mailBudget.day > 0;
  if (!isOfTurn || !isForOwner) return { obstacle, seconds: secondsTo(usedUpUntil), isOfTurn };
  const hour = await bookHour(org, addressees.length, mailBudget, takenAt);
  const booked = hour.isBooked ? { bookedFrom: hour.from.toISOString() } : {};
  return { obstacle, seconds: secondsTo(hour.from), isOfTurn, ...booked };
};
