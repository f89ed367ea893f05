/**
 * The e-mails that may have a last check of their own, beside their domain's watermark. These were once
 * disabled, or looked up one by one. A page of findings reads the rows of these e-mails only. An e-mail is
 * marked before it gets a check of its own. So a mark can be superfluous but never missing.
 */

import type { Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { blockOf } from "../../lists/blocks.ts";
import { type Email, emails } from "../emails/record.ts";
import type { Domain } from "./domain-row.ts";

export type OwnChecked = { domains: Set<number>; emails: Set<number> };

/** E-mails of this many blocks share a row: few rows to read per list, and none too large to update. */
const blocksPerRow = 2;

/** Reads all marks in one query, whose cost grows with the number of marked e-mails. */
export const ownChecked = async (org: number): Promise<OwnChecked> => {
  const rows = await table.queryWire({ pk: keys.ownChecksOfEmails(org, 0).pk });
  return {
    domains: new Set(rows.flatMap(({ domainId }) => (domainId === undefined ? [] : Number(domainId.N)))),
    emails: new Set(rows.flatMap(({ ids }) => ids?.NS ?? []).map(Number)),
  };
};

export const rowOfEmail = (email: number): number => Math.floor(blockOf(email) / blocksPerRow);

/** Marks e-mails; the mark is permanent. */
export const markEmails = (org: number, ids: readonly number[]): Write[] =>
  [...Map.groupBy(ids, rowOfEmail)].map(([row, marked]) => ({
    update: keys.ownChecksOfEmails(org, row),
    add: { ids: new Set(marked) },
  }));

/** Marks all e-mails of a domain, until `unmarkDomain`. */
export const markDomain = (org: number, domain: number): Promise<void> =>
  table.put({ ...keys.ownChecksOfDomain(org, domain), domainId: domain });

/** Undoes `markDomain`, once the watermark holds again for all e-mails that are not marked themselves. */
export const unmarkDomain = (org: number, domain: number): Promise<void> =>
  table.remove(keys.ownChecksOfDomain(org, domain));

/**
 * When an e-mail was last checked, on its own or with its domain (ISO 8601). The domain's watermark counts
 * only for active e-mails, and only if it is of a scan that included the e-mail.
 */
export const lastScannedAt = (
  email: Pick<Email, "group" | "afterScan" | "lastScannedAt">,
  { checkedByScan, checkedAt }: Domain,
): string | null =>
  !emails.groupOf(email).isActive || checkedByScan <= email.afterScan
    ? email.lastScannedAt
    : later(email.lastScannedAt, checkedAt);

/** The later of two ISO 8601 times; null is earlier than every time. */
export const later = <T extends string | null>(a: string | null, b: T): string | T =>
  a !== null && a > (b ?? "") ? a : b;
