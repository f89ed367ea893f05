/**
 * Which e-mails may have been checked last at another time than their domain: once disabled, looked up by themselves, or
 * in a chunk that a scan did not reach. A list of findings reads the rows of those only; of all others the domain's
 * watermark tells. Noted before it becomes true, so it may say too much and never too little.
 */
import { blockOf } from "../table/blocks.ts";
import type { Write } from "../table/condition.ts";
import { keys, ownCheckPrefix } from "../table/keys.ts";
import * as table from "../table/table.ts";

export type OwnChecks = { domains: Set<number>; emails: Set<number> };

/** Few rows for what every list of findings reads, and none so large that a note in it is dear. */
const blocksPerRow = 4;

/** One query; its cost grows with the e-mails that were ever disabled. */
export const ownChecks = async (org: number): Promise<OwnChecks> =>
  ownChecksIn(await table.queryWire({ pk: keys.ownChecksOfEmails(org, 0).pk, prefix: ownCheckPrefix }));

/** Of the rows beside the directory of findings. */
export const ownChecksIn = (rows: readonly table.WireRow[]): OwnChecks => ({
  domains: new Set(rows.flatMap(({ domainId }) => (domainId === undefined ? [] : Number(domainId.N)))),
  emails: new Set(rows.flatMap(({ ids }) => ids?.NS ?? []).map(Number)),
});

export const rowOfEmail = (email: number): number => Math.floor(blockOf(email) / blocksPerRow);

/** Of an e-mail, for good. */
export const noteEmail = (org: number, email: number): Write => ({
  update: keys.ownChecksOfEmails(org, rowOfEmail(email)),
  add: { ids: new Set([email]) },
});

export const noteDomain = (org: number, domain: number): Promise<void> =>
  table.put({ ...keys.ownChecksOfDomain(org, domain), domainId: domain });

/** Its watermark holds for all its e-mails again. */
export const forgetDomain = (org: number, domain: number): Promise<void> =>
  table.remove(keys.ownChecksOfDomain(org, domain));
