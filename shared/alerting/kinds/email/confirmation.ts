/**
 * Recipients of alerts who have to confirm that they want them: where the deployment wants that
 * (CONFIRM_RECIPIENTS), all but members of the organization and addresses on its verified domains.
 */
import type { Organization } from "../../../access/organizations/organization.ts";
import { linkMessage } from "../../../aws/mail/link-message.ts";
import { type Message, send, senderName } from "../../../aws/mail/mail.ts";
import { quoted } from "../../../aws/mail/quoted.ts";
import { keys } from "../../../aws/table/keys.ts";
import * as table from "../../../aws/table/table.ts";
import { secondsAfter } from "../../../contract/alert-timing.ts";
import * as domains from "../../../monitoring/domains/domain.ts";
import { defaultMailBudget, giveBackCopies, takeCopies } from "./mail-budget.ts";
import { type Addressee, mayBeAsked, pageUrlOf, setAsking } from "./recipient.ts";

/** Short, because in an attempt of a delivery the messages to others still have to go out. */
const askTimeoutMilliseconds = 3_000;

/** Longer than asking takes. */
const askingSeconds = 10;
const againAfterSeconds = 7 * 86_400;

export const confirmsRecipients = (): boolean => process.env.CONFIRM_RECIPIENTS === "true";

/** Those who must confirm before anything else is sent to them. At most three requests to the table. */
export const unconfirmed = async (org: number, addressees: readonly Addressee[]): Promise<Addressee[]> => {
  if (!confirmsRecipients()) return [];
  const open = addressees.filter(({ consent }) => consent === undefined);
  if (open.length === 0) return [];
  const names = [...new Set(open.map(domainOf))];
  const rows = await table.getMany<{ id: number }>([
    ...names.map((name) => keys.domainName(org, name)),
    ...open.map(({ email }) => keys.signInAddress(email.toLowerCase(), org)),
  ]);
  const ids = rows.slice(0, names.length).flatMap((row) => (row === undefined ? [] : [row.id]));
  const known = await domains.getMany(org, ids);
  const verified = new Set([...known.values()].filter((each) => each.verified).map(({ name }) => name));
  const users = rows.slice(names.length);
  return open.filter((each, index) => users[index] === undefined && !verified.has(domainOf(each)));
};

const domainOf = ({ email }: Addressee): string => email.slice(email.lastIndexOf("@") + 1).toLowerCase();

/**
 * Asks those who were not asked lately to confirm. A request is a copy out of the organization's budget;
 * nobody is asked when it is used up. If SES throttles, the recipient is asked at the next alert; if it
 * refuses, in a week. Throws when the table cannot be used.
 */
export const askToConfirm = async (
  { id: org, name, mailBudget = defaultMailBudget }: Organization,
  addressees: readonly Addressee[],
  dashboardUrl: string,
): Promise<void> => {
  const now = new Date();
  const due = addressees.filter((each) => mayBeAsked(each, now));
  const purpose = { isCaused: true };
  if (due.length === 0 || (await takeCopies(org, due.length, mailBudget, now, purpose)) !== undefined) return;
  const asked = await Promise.all(
    due.map(async (each) => {
      // If this worker dies before it has asked, others may a moment later.
      const claimed = { ...each, askAfter: secondsAfter(now, askingSeconds) };
      if (!(await setAsking(org, each, { askAfter: claimed.askAfter }))) return false;
      const result = await send(request(each, name, dashboardUrl), askTimeoutMilliseconds);
      const isTaken = !("failure" in result) || result.retryAfterSeconds === undefined;
      const { asked = 0 } = each;
      await setAsking(org, claimed, {
        asked: isTaken ? asked + 1 : asked,
        askAfter: secondsAfter(now, isTaken ? againAfterSeconds : 0),
      });
      return isTaken;
    }),
  );
  await giveBackCopies(org, asked.filter((isAsked) => !isAsked).length, now, purpose);
};

const request = ({ email, token }: Addressee, organizationName: string, dashboardUrl: string): Message => {
  const name = quoted(organizationName);
  return {
    recipient: email,
    ...linkMessage({
      subject: `Do you want alerts from ${name}?`,
      lead: `${name} wants to send you an e-mail when ${senderName} finds an e-mail address in a data breach.`,
      label: "Say yes or no",
      url: pageUrlOf(dashboardUrl, token),
      notes: ["If you do nothing, you get no alerts."],
    }),
  };
};
