/**
 * A message in words for people. Slack and e-mail show the same notice, each in its own format and with its
 * own escaping.
 */
import { buttonColor, type Link } from "../../aws/mail/html.ts";
import type { Severity } from "../../hibp/severity-schema.ts";

export type Notice = {
  /** Of the worst breach; the headline says it in words. */
  severity: Severity | undefined;
  /** Names of what further messages may be about too, the breach before the scan: letters, digits and hyphens. */
  threads: string[];
  /** One line that is understood without the rest, such as a subject. */
  summary: string;
  /** At most 100 characters. */
  headline: string;
  lead: string;
  /** Whose address it is. */
  facts: { label: string; value: string }[];
  /** One entry per breach. `urlLabel`: where the url does not lead to a finding. */
  items: { title: string; details: string[]; url: string | undefined; urlLabel?: string }[];
  /** At most two lines; to an owner what to do, a line for each step. */
  advice: string | undefined;
  /** The page of the dashboard to go to. */
  link: Link | undefined;
  organizationName: string;
};

/** What differs between notices. `subject`: the summary up to the organization. Default: the headline. */
export type Words = Partial<Omit<Notice, "summary" | "organizationName">> &
  Pick<Notice, "headline" | "lead"> & { subject?: string };

export type NoticeContext = {
  organizationName: string;
  /** The url of the dashboard's page, without a slash at its end. */
  dashboardUrl: string;
};

/** Required by CC BY 4.0, under which Have I Been Pwned licenses its breach data. */
export const attribution = {
  source: { label: "Have I Been Pwned", url: "https://haveibeenpwned.com" },
  license: { label: "CC BY 4.0", url: "https://creativecommons.org/licenses/by/4.0/" },
} as const;

/** With `none` for what has no severity. */
export const severityColors = {
  critical: "#b3001b",
  high: "#d9480f",
  medium: "#e0a100",
  low: "#5f6b7a",
  none: buttonColor,
} as const;
