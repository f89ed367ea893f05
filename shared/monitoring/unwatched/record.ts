/**
 * Breached addresses of a domain that nobody watches: a list like others. Sub-addresses of a watched address, `ada+shop@` of `ada@`, are
 * kept by that e-mail's row instead, and of erased addresses the domain's row keeps hashes.
 */
import { createHash } from "node:crypto";
import { inTransactions } from "../../aws/table/budget.ts";
import { chunk } from "../../aws/table/chunk.ts";
import { exists } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { blockOf } from "../../lists/blocks.ts";
import { countedList } from "../../lists/counted-list.ts";

/** What HIBP says of an address. `worst`: ids of up to five breaches, worst first. */
export type Found = { breachCount: number; worst: number[]; firstSeenAt: string };

/** Of an ignored address nothing else is kept, and after that until the next scan. */
type UnwatchedRow = { email: string } & Partial<Found>;

/** `level`: the highest severity (hibp/severity.ts); 0 where it is not kept. */
export type UnwatchedGroup = { domainId: number; isIgnored: boolean; level: number };

export const unwatched = countedList<UnwatchedGroup, UnwatchedRow>("UNWATCHED", {
  domainId: "integer",
  isIgnored: "boolean",
  level: "integer",
});

export type Unwatched = NonNullable<Awaited<ReturnType<typeof unwatched.get>>>;

/** The part of an address in front of the @. */
export const aliasOf = (address: string): string => address.slice(0, address.lastIndexOf("@"));

/** The alias without what follows a `+`: `ada` of `ada+shop`. */
export const baseOf = (alias: string): string => {
  const at = alias.indexOf("+");
  return at > 0 ? alias.slice(0, at) : alias;
};

/** What is kept of an alias that was erased. */
export const hashOf = (alias: string): string => createHash("sha256").update(alias).digest("base64url");

/** All of a domain. */
export const read = async (org: number, domainId: number): Promise<Unwatched[]> => {
  const rows: Unwatched[] = [];
  const directory = await unwatched.directory(org);
  const blocks = unwatched.blocks(directory, (group) => group.domainId === domainId);
  for await (const members of unwatched.membersOf(org, blocks))
    rows.push(...members.filter((row) => unwatched.groupOf(row).domainId === domainId));
  return rows;
};

/** How many addresses of an organization are neither watched nor ignored. */
export const countOpen = async (org: number): Promise<number> =>
  unwatched.sum(await unwatched.directory(org), ({ isIgnored }) => !isIgnored);

/** Forgets an address with its sub-addresses, watched or not, so that no answer brings them back into the list. */
export const erase = async (org: number, domainId: number, address: string): Promise<void> => {
  const alias = aliasOf(address).toLowerCase();
  const add = { erased: new Set([hashOf(alias)]) };
  await table.attempt(table.update(keys.domain(org, domainId), { add, if: exists }));
  await removeAll(org, domainId, ({ email }) => [aliasOf(email), baseOf(aliasOf(email))].includes(alias));
};

/** Blocks from which addresses are removed at the same time. */
const concurrency = 16;

/** Removes all of a domain, once no planner can add any, or those that are meant. */
export const removeAll = (
  org: number,
  domainId: number,
  isMeant: (row: Unwatched) => boolean = () => true,
): Promise<void> =>
  withOptimisticRetry(async () => {
    const removeRows = async (rows: readonly Unwatched[]): Promise<void> => {
      const deletions = rows.map((row) => unwatched.delete(org, row.id, unwatched.groupOf(row)));
      for (const some of inTransactions(deletions, (each) => unwatched.writes(org, [each])))
        await table.transact(unwatched.writes(org, some));
    };
    const meant = (await read(org, domainId)).filter(isMeant);
    const ofBlocks = [...Map.groupBy(meant, ({ id }) => blockOf(id)).values()];
    for (const some of chunk(ofBlocks, concurrency)) await Promise.all(some.map(removeRows));
  });
