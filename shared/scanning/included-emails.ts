import { blockOf } from "../lists/blocks.ts";
import { type Email, type EmailGroup, emails } from "../monitoring/emails/record.ts";

/**
 * Whether a scan includes an e-mail: the e-mail is active, and was active before the scan claimed its domain.
 */
export const isIncluded = (row: Email, group: EmailGroup, scanId: number): boolean =>
  group.isActive && row.afterScan < scanId;

/** The e-mails that a scan includes of a range of ids, which lies inside one block. */
export const includedIn = async (
  org: number,
  scanId: number,
  { fromId, toId }: { fromId: number; toId: number },
  isWantedDomain: (domainId: number) => boolean,
): Promise<Email[]> => {
  const rows = await emails.members(org, blockOf(fromId), { fromId, toId });
  return rows.filter((row) => {
    const group = emails.groupOf(row);
    return isIncluded(row, group, scanId) && isWantedDomain(group.domainId);
  });
};
