import * as counts from "../counts/counts.ts";
import * as directories from "../lists/directory.ts";
import { chunk } from "../table/chunk.ts";
import { always, condition, exists } from "../table/condition.ts";
import { type Key, keys, type ListKind, listKinds, organizationOf } from "../table/keys.ts";
import * as table from "../table/table.ts";
import type { Organization } from "./organization.ts";
import { change, deletion, find } from "./row.ts";

/** Rows that are deleted at the same time. */
const concurrency = 25;

/** Workers of a scan, or of a request to acknowledge many findings, go on only while its lock exists. */
const locksOf = (org: number): Key[] => [keys.scanLock(org), keys.acknowledgementLock(org)];

/**
 * Begins the deletion of an organization. From now on its requests are refused, no new work starts, and work in
 * progress ends, because it has lost its lock. The sweep deletes the rows later (`resume`).
 */
export const begin = async (org: number): Promise<"begun" | "unknown"> => {
  if ((await find(org)) === undefined) return "unknown";
  await change(org, deletion(org));
  for (const { pk } of [keys.apiKey(org, ""), keys.session(org, 0, "")]) await deletePartition(pk);
  for (const key of locksOf(org)) await table.remove(key);
  return "begun";
};

/**
 * Deletes all rows of an organization once `waitSeconds` have passed since the sweep first saw its deletion;
 * before that, does nothing. The organization's own row goes last, so that the next sweep finds a deletion
 * that was interrupted or that `mayGoOn` has stopped. `due` is one of the places of this row (row.ts).
 */
export const resume = async (due: Key, waitSeconds: number, mayGoOn: () => boolean): Promise<void> => {
  const org = organizationOf(due);
  const row = await table.get<Organization & { dueAt?: string }>(keys.organization(org));
  const isOfFormerRow = due.pk === keys.unguardedOrganization(org).pk;
  // Both rows are due; one of them is enough.
  if (isOfFormerRow && row?.deleting === true && row.dueAt !== undefined) return;
  const former = isOfFormerRow ? await table.get<Organization>(keys.unguardedOrganization(org)) : undefined;
  if (row !== undefined && former?.deleting === true) {
    // The release before began the deletion. Until its mark is in this row, this release serves the organization.
    await table.attempt(table.update(keys.organization(org), { set: deletion(org), if: exists }));
    return;
  }
  const organization = row ?? former;
  if (organization?.deleting !== true) return;
  const key = row === undefined ? keys.unguardedOrganization(org) : keys.organization(org);
  if (organization.deletingSince === undefined) {
    // The wait starts by the clock of the workers that it waits for, not by the clock of who called `begin`.
    await table.update(key, { setOnce: { deletingSince: new Date().toISOString() }, if: exists });
    return;
  }
  if (Date.now() < Date.parse(organization.deletingSince) + waitSeconds * 1000) return;
  const locks = await table.getMany<Key>(locksOf(org));
  if (locks.some((lock) => lock !== undefined)) {
    // Work started just as the deletion began. Without its lock it ends; the wait starts again for its
    // workers.
    for (const lock of locksOf(org)) await table.remove(lock);
    await table.update(key, { set: { deletingSince: new Date().toISOString() }, if: exists });
    return;
  }
  for (const kind of listKinds) {
    if (!(await deleteList(org, kind, mayGoOn))) return;
  }
  await releaseNames(org);
  const partitions = [
    keys.ownChecksOfDomain(org, 0),
    keys.domain(org, 0),
    keys.domainName(org, ""),
    keys.domainRemoval(org, 0),
    keys.team(org, 0),
    keys.teamName(org, ""),
    keys.teamRemoval(org, 0),
    keys.userEmail(org, ""),
    keys.session(org, 0, ""),
    keys.apiKey(org, ""),
    keys.channel(org, 0),
    keys.mailCopies(org, 0),
    keys.recipient(org, ""),
    keys.removal(org, 0),
    keys.channelRemoval(org, 0),
    keys.acknowledgement(org, 0),
    keys.acknowledgementLane(org, 0, 0),
  ];
  for (const { pk } of partitions) await deletePartition(pk);
  await deletePartition(keys.findingNotes(org, 0).pk);
  // The counts name the breaches, so they go after the index of these.
  for (const breachId of await counts.breachesEver(org)) {
    await deletePartition(keys.breachSegment(org, breachId, 0).pk);
  }
  for (const place of counts.places) await table.remove(keys.counts(org, place));
  await deletePartition(
    keys.user(org, 0).pk,
    () => true,
    (user) => table.remove(keys.signInAddress((user as unknown as { email: string }).email, org)),
  );
  const unguarded = keys.unguardedOrganization(org);
  // It goes before the partition is read, because a function may have given it a version that reads refuse (row.ts).
  if (key.pk !== unguarded.pk) await table.remove(unguarded, always);
  await deletePartition(unguarded.pk, ({ sk }) => sk !== unguarded.sk);
  await table.remove(keys.organizations(org));
  // Again, since an operator's command may have written it meanwhile.
  if (key.pk !== unguarded.pk) await table.remove(unguarded, always);
  await table.remove(key);
};

/** Frees the names of domains that the organization has proved, in rows of the whole deployment. */
const releaseNames = async (org: number): Promise<void> => {
  const names = await table.query<Key>({ pk: keys.domainName(org, "").pk });
  for (const { sk: name } of names) {
    const ours = condition("#organizationId = :org", { org });
    await table.attempt(table.remove(keys.provenDomain(name), ours));
  }
};

/**
 * Deletes the members of a list with the rows that belong to each, block by block, and each block's directory
 * row after its members. Returns false when `mayGoOn` has stopped it.
 */
const deleteList = async (org: number, kind: ListKind, mayGoOn: () => boolean): Promise<boolean> => {
  for (const { block } of directories.blocksIn(await directories.read(org, kind))) {
    if (!mayGoOn()) return false;
    await deleteMembers(org, kind, block);
    await table.remove(keys.directory(org, kind, block));
  }
  // Folds are deleted last, because a deletion that was interrupted finds the blocks by them.
  await deletePartition(keys.directory(org, kind, 0).pk);
  return true;
};

const deleteMembers = (org: number, kind: ListKind, block: number): Promise<void> =>
  deletePartition(
    keys.member(org, kind, block, 0).pk,
    () => true,
    async (member) => {
      if (kind === "EMAIL")
        await table.remove(keys.address(org, (member as unknown as { email: string }).email));
      if (kind === "SCAN") {
        const scan = Number(member.sk);
        await deletePartition(keys.chunk(org, scan, 0, "").pk);
        await deletePartition(keys.closedChunk(org, scan, 0, "").pk);
      }
    },
  );

const deletePartition = async (
  pk: string,
  isIncluded: (row: Key) => boolean = () => true,
  before: (row: Key) => Promise<void> = async () => {},
): Promise<void> => {
  for await (const page of table.queryPages<Key>({ pk })) {
    const rows = page.filter(isIncluded);
    for (const part of chunk(rows, concurrency)) {
      await Promise.all(
        part.map(async (row) => {
          await before(row);
          await table.remove(row);
        }),
      );
    }
  }
};
