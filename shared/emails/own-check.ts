/**
 * Which e-mails may have been checked last at another time than their domain: once disabled, looked up by themselves, or
 * in a chunk that a scan did not reach. A list of findings reads the rows of those only; of all others the domain's
 * watermark tells. Noted before it becomes true, so it may say too much and never too little.
 */
import { blockOf } from "../table/blocks.ts";
import type { Item, Write } from "../table/condition.ts";
import { beside, keys } from "../table/keys.ts";
import * as table from "../table/table.ts";

export type OwnChecks = { domains: Set<number>; emails: Set<number> };

type Row = { domainId?: number; ids?: Set<number> };

/** One query; its cost grows with the e-mails that were ever disabled. */
export const ownChecks = async (org: number): Promise<OwnChecks> =>
  ownChecksIn(await table.query({ pk: keys.ownChecksInBlock(org, 0).pk, prefix: beside }));

/** Of the rows beside the directory of findings. */
export const ownChecksIn = (rows: readonly Item[]): OwnChecks => ({
  domains: new Set(rows.flatMap(({ domainId }: Row) => domainId ?? [])),
  emails: new Set(rows.flatMap(({ ids }: Row) => [...(ids ?? [])])),
});

/** Of an e-mail, for good. */
export const noteEmail = (org: number, email: number): Write => ({
  update: keys.ownChecksInBlock(org, blockOf(email)),
  add: { ids: new Set([email]) },
});

export const noteDomain = (org: number, domain: number): Promise<void> =>
  table.put({ ...keys.ownChecksOfDomain(org, domain), domainId: domain });

/** Its watermark holds for all its e-mails again. */
export const forgetDomain = (org: number, domain: number): Promise<void> =>
  table.remove(keys.ownChecksOfDomain(org, domain));
