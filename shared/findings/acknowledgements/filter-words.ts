import { anyOf, inBrackets } from "../../contract/text.ts";
import * as breachDetails from "../../hibp/breach-details.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import { emails } from "../../monitoring/emails/record.ts";
import type { FindingFilter } from "./acknowledgement-schema.ts";

/** A filter as the log entry names it, such as `(breach PayrollPro, severity critical or high) `. */
export const filterInWords = async (org: number, filter: FindingFilter = {}): Promise<string> => {
  const { ids, acknowledged, breachId, domainId, emailId, severity, scanId, told, endedBy } = filter;
  const { detectedBefore, acknowledgedAt } = filter;
  const [breaches, domain, email] = await Promise.all([
    breachDetails.details(breachId === undefined ? [] : [breachId]),
    domainId === undefined ? undefined : domains.get(org, domainId),
    emailId === undefined ? undefined : emails.get(org, emailId),
  ]);
  return inBrackets([
    ids !== undefined && "chosen by id",
    breachId !== undefined && `breach ${breaches.get(breachId)?.title ?? breachId}`,
    domainId !== undefined && `domain ${domain?.name ?? domainId}`,
    severity !== undefined && `severity ${anyOf(new Set(severity))}`,
    emailId !== undefined && `e-mail ${email?.email ?? emailId}`,
    scanId !== undefined && `scan ${scanId}`,
    acknowledged !== undefined && (acknowledged ? "acknowledged" : "open"),
    told !== undefined && (told ? "owner told" : "owner not told"),
    endedBy !== undefined &&
      (endedBy === "person" ? "ended by people" : `ended by the rule ${endedBy.replace("_", " ")}`),
    detectedBefore !== undefined && `detected before ${detectedBefore}`,
    acknowledgedAt !== undefined && `acknowledged at ${acknowledgedAt}`,
  ]);
};
