import { inBrackets } from "../../contract/text.ts";
import * as domains from "../domains/domain.ts";
import * as teams from "../teams/team.ts";
import type { EmailFilter } from "./email-schema.ts";

/** A filter of e-mails as the log entry names it, such as `(team Finance, with open findings) `. */
export const filterInWords = async (
  org: number,
  { q, domainId, teamId, isActive, breached, source, left }: EmailFilter,
): Promise<string> => {
  const [domain, team] = await Promise.all([
    domainId === undefined ? undefined : domains.get(org, domainId),
    teamId === undefined ? undefined : teams.get(org, teamId),
  ]);
  return inBrackets([
    domainId !== undefined && `domain ${domain?.name ?? domainId}`,
    teamId !== undefined && `team ${team?.name ?? teamId}`,
    isActive !== undefined && (isActive ? "enabled" : "disabled"),
    breached !== undefined && (breached ? "with open findings" : "without open findings"),
    source !== undefined && (source === "directory" ? "from a directory" : "watched by hand"),
    left !== undefined && (left ? "who left" : "who are here"),
    q !== undefined && `found by "${q}"`,
  ]);
};
