/** What happened to scans, and other problems, in words for people. */

import { asLine } from "../kinds/as-line.ts";
import type { Words } from "../kinds/notice.ts";
import type { ScanReport } from "./content.ts";
import { maximumDetail, shown } from "./phrases.ts";

export const wordsForScan = ({ event }: ScanReport, dashboardUrl: string): Words => {
  const link = { label: "See the scans", url: `${dashboardUrl}/scans` };
  if (event.type === "scan_error") {
    // Of channels, domains, and the plan the overview tells more.
    const overview = { label: "See the overview", url: `${dashboardUrl}/` };
    return {
      ...wordsForError(asLine(event.error, maximumDetail)),
      link: event.scanId === undefined ? overview : link,
    };
  }
  const { scannedCount, totalEmails, newBreachCount, failedCount } = event;
  const checked = `${shown(scannedCount)} of ${shown(totalEmails)}`;
  return {
    headline: failedCount > 0 ? `A scan checked ${checked} addresses` : "A scan is complete",
    lead:
      `Checked ${checked} monitored e-mail addresses. ` +
      `New findings: ${shown(newBreachCount)}. Addresses that could not be checked: ${shown(failedCount)}.`,
    link,
  };
};

const maximumHeadline = 100;

/** The headline is the error up to its first colon or full stop outside of a name, or its beginning if there is none near enough. */
const wordsForError = (error: string): Words => {
  const [, headline, rest = ""] = /^((?:"[^"]*"|[^"]){1,100}?)[:.] (.+?)\.?$/.exec(error) ?? [];
  return headline === undefined
    ? { headline: asLine(error.replace(/\.$/, ""), maximumHeadline), lead: error }
    : {
        headline: asLine(headline, maximumHeadline),
        lead: `${rest.charAt(0).toUpperCase()}${rest.slice(1)}.`,
      };
};
