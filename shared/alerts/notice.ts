/**
 * What an event says to people, in words: Slack and e-mail show the same notice, each in its own form. Text from Have I Been
 * Pwned and from users becomes single lines here; escaping belongs to where it is shown.
 */
import type { Event } from "./envelope.ts";

export type Notice = {
  /** One line that stands alone: a subject. */
  summary: string;
  /** Without any text from elsewhere; at most 100 characters. */
  headline: string;
  lead: string;
  /** A breach each. */
  items: { title: string; detail: string }[];
  advice?: string;
  organizationName: string;
};

/** Have I Been Pwned licenses its breach data under CC BY 4.0, which asks for this. */
export const attribution = {
  source: { name: "Have I Been Pwned", url: "https://haveibeenpwned.com" },
  license: { name: "CC BY 4.0", url: "https://creativecommons.org/licenses/by/4.0/" },
} as const;

/** Longest texts from elsewhere, in characters. */
const maximumName = 100;
const maximumTitle = 200;
const maximumDomain = 253;
const maximumDetail = 1000;

export const noticeOf = (event: Event, { organizationName }: { organizationName: string }): Notice => {
  const name = asLine(organizationName, maximumName);
  const words = wordsFor(event);
  return { summary: `${words.headline} (${name})`, organizationName: name, ...words };
};

const wordsFor = (event: Event): Pick<Notice, "headline" | "lead" | "items" | "advice"> => {
  switch (event.type) {
    case "breach": {
      const { breaches } = event.data;
      const one = breaches.length === 1;
      const howMany = one ? "a data breach" : `${breaches.length} data breaches`;
      return {
        headline: `An e-mail address appeared in ${howMany}`,
        lead: `A monitored e-mail address was found in ${howMany} that ${one ? "was" : "were"} not known before.`,
        items: breaches.map(({ title, domain, dataClasses }) => ({
          title: asLine(title, maximumTitle) + (domain === "" ? "" : ` (${asLine(domain, maximumDomain)})`),
          detail:
            dataClasses.length === 0
              ? "It is not known what was exposed."
              : asLine(`Exposed: ${dataClasses.join(", ")}`, maximumDetail),
        })),
        advice: "Your findings name the address. Acknowledge each finding once it is handled.",
      };
    }
    case "scan_complete": {
      const { scannedCount, totalEmails, newBreachCount, failedCount } = event.data;
      return {
        headline: "A scan is complete",
        lead:
          `Checked ${shown(scannedCount)} of ${shown(totalEmails)} monitored e-mail addresses. ` +
          `New breaches found: ${shown(newBreachCount)}. Addresses that could not be checked: ${shown(failedCount)}.`,
        items: [],
      };
    }
    case "scan_error":
      return {
        headline: "A scan had a problem",
        lead: asLine(event.data.error, maximumDetail),
        items: [],
      };
  }
};

const shown = (count: number): string => count.toLocaleString("en-US");

/** On one line and not too long, without characters that would hide or reorder the text around them. */
const asLine = (text: string, maximum: number): string => {
  const line = text
    .toWellFormed()
    // Format characters, but those that join and part letters in some scripts and in emoji.
    .replace(/[^\P{Cf}\u200c\u200d]/gu, "")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  // Slack refuses empty texts.
  if (line === "") return "(no text)";
  const characters = [...line];
  return characters.length <= maximum ? line : `${characters.slice(0, maximum - 1).join("")}…`;
};
