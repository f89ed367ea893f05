/** The breaches of one address in words: for those who watch it, and for its owner, who need not know the service. */
import { unknownDate } from "../../contract/unknown-date.ts";
import { inBothForms } from "../../monitoring/domains/written-name.ts";
import { stepsForOwner } from "../../monitoring/hibp/advice.ts";
import { asLine } from "../kinds/as-line.ts";
import type { Notice, Words } from "../kinds/notice.ts";
import type { OwnBreach, OwnerReport, PersonReport } from "./person.ts";
import {
  adviceFor,
  andMore,
  breachesInWords,
  exposedIn,
  inWords,
  maximumAddress,
  maximumTitle,
  shortTitle,
  stolenFor,
  subjectOf,
  threadsOf,
} from "./phrases.ts";

const maximumAddressInHeadline = 60;
const maximumName = 200;
const maximumDomain = 253;

export const wordsForPerson = ({ scanId, email, breaches }: PersonReport, dashboardUrl: string): Words => {
  const [worst] = breaches;
  const severity = worst?.severity;
  const howMany = breachesInWords(breaches.length);
  const found = `was found in ${howMany} that ${breaches.length === 1 ? "was" : "were"} not known before.`;
  const threads = threadsOf(breaches, scanId);
  if (email === undefined) {
    return {
      severity,
      threads,
      headline: `${inWords(severity)}An address that is no longer monitored appeared in ${howMany}`,
      lead: `An address that is no longer monitored ${found} Its findings were deleted when it was removed.`,
      items: breaches.map((breach) => itemOf(breach)),
    };
  }
  const url = `${dashboardUrl}/findings?emailId=${email.id}`;
  return {
    severity,
    threads,
    ...(worst && { subject: inWords(severity) + subjectOf(worst, breaches.length - 1, "1 person") }),
    headline: `${inWords(severity)}${shortened(email.address)} appeared in ${howMany}`,
    lead: `This monitored e-mail address ${found}`,
    facts: factsOf(email),
    items: breaches.map((breach) => itemOf(breach, `${url}&finding=${breach.findingId}`)),
    advice: adviceFor(worst),
    link: { label: "See the findings of this address", url },
  };
};

const factsOf = ({ address, ownerName, teamName }: NonNullable<PersonReport["email"]>): Notice["facts"] =>
  [
    { label: "Address", value: inFull(address) },
    { label: "Owner", value: asLine(ownerName ?? "", maximumName, "") },
    { label: "Team", value: asLine(teamName ?? "", maximumName, "") },
  ].filter(({ value }) => value !== "");

const inFull = (address: string): string => asLine(inBothForms(address), 2 * maximumAddress + 3);

/** An address with both its ends, since its domain is at the end. */
const shortened = (address: string): string => {
  const characters = [...asLine(address, maximumAddress)];
  if (characters.length <= maximumAddressInHeadline) return characters.join("");
  const half = maximumAddressInHeadline / 2;
  return `${characters.slice(0, half - 1).join("")}…${characters.slice(-half).join("")}`;
};

const itemOf = (
  { title, domain, severity, breachDate, dataClasses, stealerLogDomains }: OwnBreach,
  url?: string,
): Notice["items"][number] => ({
  title: `${asLine(title, maximumTitle)}${domain === "" ? "" : ` (${asLine(domain, maximumDomain)})`} · ${severity}`,
  details: [
    ...(breachDate === unknownDate ? [] : [`Date of the breach: ${breachDate}`]),
    exposedIn(dataClasses),
    ...stolenFor(stealerLogDomains),
  ],
  url,
});

/** More than these are read by nobody. */
const maximumSteps = 6;

/** `name`: of the organization. */
export const wordsForOwner = ({ address, breaches }: OwnerReport, name: string): Words => {
  const [worst] = breaches;
  const severity = worst?.severity;
  const steps = [...new Set(breaches.flatMap(stepsForOwner))].slice(0, maximumSteps);
  const howMany = breachesInWords(breaches.length);
  return {
    severity,
    subject: `${inWords(severity)}your address is in the data breach ${shortTitle(worst?.title ?? "")}${andMore(breaches.length - 1)}`,
    headline: `${inWords(severity)}your address is in ${howMany}`,
    lead: `${name} looks for the addresses of its domains in known data breaches. Yours, ${inFull(address)}, is in ${howMany}, so strangers may know what is listed here. That need not be your fault.`,
    items: breaches.map((breach) => itemOf(breach)),
    advice: [
      "What you can do:",
      ...steps.map((step, index) => `${index + 1}. ${step}`),
      "",
      `If you have questions, ask ${name}. This message does not ask for a password, and has no link to sign in.`,
    ].join("\n"),
  };
};
