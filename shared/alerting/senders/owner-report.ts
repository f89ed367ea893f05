/** What the owner of a breached address is told, read when the message is sent, and in words for this person, who need not know the service. */
import { findings } from "../../findings/record.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import { inBothForms } from "../../monitoring/domains/written-name.ts";
import { emails } from "../../monitoring/emails/record.ts";
import { stepsForOwner } from "../../monitoring/hibp/advice.ts";
import type { Breach } from "../../monitoring/hibp/breach.ts";
import * as breachDetails from "../../monitoring/hibp/breach-details.ts";
import { levelOf } from "../../monitoring/hibp/severity.ts";
import type { Delivery, OwnerEvent } from "../deliveries/delivery.ts";
import {
  asLine,
  breachesInWords,
  breachInWords,
  inWords,
  maximumBothForms,
  maximumOrganization,
  maximumOrganizationInSubject,
  maximumTitleInSubject,
  type Notice,
  type NoticeContext,
} from "./notice.ts";

type OwnersBreach = Breach & { stealerLogDomains?: string[] | undefined };

/** `breaches`: worst first, at least one; `stealerLogDomains`: as of the finding. */
export type OwnerReport = { kind: "owner"; address: string; breaches: OwnersBreach[] };

/**
 * Undefined: there is nobody to tell. The address was removed or disabled, its domain is no longer verified, what leaked is sensitive or below
 * `least`, or a later message tells it, since the delivery was created. A delivery that is over is read as it was sent.
 */
export const readOwnerReport = async (
  org: number,
  delivery: Pick<Delivery, "id" | "dueAt">,
  { breachIds, email: { id, findingIds } }: OwnerEvent,
  least = 0,
): Promise<OwnerReport | undefined> => {
  const isOver = delivery.dueAt === undefined;
  const [details, email, rows] = await Promise.all([
    breachDetails.details(breachIds),
    emails.get(org, id),
    findings.getMany(org, findingIds),
  ]);
  const group = email && emails.groupOf(email);
  if (email === undefined || group?.isActive !== true) return undefined;
  if ((await domains.get(org, group.domainId))?.verified !== true) return undefined;
  const breaches = rows
    .flatMap((row): OwnersBreach[] => {
      const breach = row && details.get(row.breachId);
      if (breach === undefined || breach.isSensitive || levelOf(breach.severity) < least) return [];
      return isOver || row?.toldBy === delivery.id
        ? [{ ...breach, stealerLogDomains: row?.stealerLogDomains }]
        : [];
    })
    .sort((one, other) => levelOf(other.severity) - levelOf(one.severity));
  return breaches.length === 0 ? undefined : { kind: "owner", address: email.email, breaches };
};

/** More than these are read by nobody. */
const maximumSteps = 6;

export const noticeOfOwner = (
  { address, breaches }: OwnerReport,
  { organizationName }: NoticeContext,
): Notice => {
  const [worst] = breaches;
  const name = asLine(organizationName, maximumOrganization);
  const title = asLine(worst?.title ?? "", maximumTitleInSubject);
  const others = breaches.length === 1 ? "" : ` and ${breaches.length - 1} more`;
  const steps = [...new Set(breaches.flatMap(stepsForOwner))].slice(0, maximumSteps);
  const severity = worst?.severity;
  return {
    severity,
    threads: [],
    summary: `${inWords(severity)}your address is in the data breach ${title}${others} (${asLine(organizationName, maximumOrganizationInSubject)})`,
    headline: `${inWords(severity)}your address is in ${breachesInWords(breaches.length)}`,
    lead: `${name} looks for the addresses of its domains in known data breaches. Yours, ${asLine(inBothForms(address), maximumBothForms)}, is in ${breachesInWords(breaches.length)}, so strangers may know what is listed here. That need not be your fault.`,
    facts: [],
    items: breaches.map((breach) => ({ ...breachInWords(breach), url: undefined })),
    advice: [
      "What you can do:",
      ...steps.map((step, index) => `${index + 1}. ${step}`),
      "",
      `If you have questions, ask ${name}. This message does not ask for a password, and has no link to sign in.`,
    ].join("\n"),
    link: undefined,
    organizationName: name,
  };
};
