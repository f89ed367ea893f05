import { type Email, type EmailFacet, emails } from "../emails/record.ts";
import type { EmailChange } from "../queue/messages.ts";
import { blockOf } from "../table/blocks.ts";

/** Whether a scan includes an e-mail: active, and there before the scan began with its domain. */
export const isIncluded = (row: Email, facet: EmailFacet, scanId: number): boolean =>
  facet.isActive && row.since < scanId;

/** The e-mails of a range, which is inside one block, that a scan includes. */
export const includedIn = async (
  org: number,
  scanId: number,
  { fromId, toId }: { fromId: number; toId: number },
  isWanted: (domainId: number) => boolean,
): Promise<Email[]> => {
  const rows = await emails.members(org, blockOf(fromId), { fromId, toId });
  return rows.filter((row) => {
    const facet = emails.facetOf(row);
    return isIncluded(row, facet, scanId) && isWanted(facet.domainId);
  });
};

/**
 * What an answer from upstream changes for an e-mail. `breachIds`: the breaches that the answer says it is in.
 * `complete`: only the answer of a domain search can say that a breach is gone (single look-ups leave out some kinds).
 * Undefined when nothing changes.
 */
export const compare = (
  email: Pick<Email, "id" | "findings" | "gone">,
  breachIds: ReadonlySet<number>,
  { complete }: { complete: boolean },
): EmailChange | undefined => {
  const found: number[] = [];
  const back: number[] = [];
  const gone: number[] = [];
  for (const id of breachIds) {
    if (email.findings[id] === undefined) found.push(id);
    else if (email.gone?.has(id)) back.push(id);
  }
  if (complete) {
    for (const key of Object.keys(email.findings)) {
      const id = Number(key);
      if (!breachIds.has(id) && !email.gone?.has(id)) gone.push(id);
    }
  }
  if (found.length + back.length + gone.length === 0) return undefined;
  return { emailId: email.id, found, gone, back };
};
