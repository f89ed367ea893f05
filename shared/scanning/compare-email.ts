import type { Email, EmailGroup } from "../monitoring/emails/record.ts";

/**
 * Whether a scan includes an e-mail: the e-mail is active, and was active before the scan claimed its domain.
 */
export const isIncluded = (row: Email, group: EmailGroup, scanId: number): boolean =>
  group.isActive && row.afterScan < scanId;

/**
 * What an answer changes for one e-mail, as breach ids: found, gone from the answers, back after being
 * gone. `stealerLogs`: which of the found are stealer logs, and the websites that they have logins of.
 */
export type EmailChange = {
  emailId: number;
  found: number[];
  gone: number[];
  back: number[];
  stealerLogs?: { breachIds: number[]; domains: string[] };
};

/**
 * What an answer changes for an e-mail, or undefined when nothing does. `breachIds`: the breaches that
 * the e-mail is in by this answer. A breach that it lacks was not seen, so it counts as gone; look-ups
 * of single addresses lack sensitive ones.
 */
export const compareEmail = (
  email: Pick<Email, "id" | "findings" | "gone">,
  breachIds: ReadonlySet<number>,
): EmailChange | undefined => {
  const found: number[] = [];
  const back: number[] = [];
  const gone: number[] = [];
  for (const id of breachIds) {
    if (email.findings[id] === undefined) found.push(id);
    else if (email.gone?.has(id)) back.push(id);
  }
  for (const key of Object.keys(email.findings)) {
    const id = Number(key);
    if (!breachIds.has(id) && !email.gone?.has(id)) gone.push(id);
  }
  if (found.length + back.length + gone.length === 0) return undefined;
  return { emailId: email.id, found, gone, back };
};
