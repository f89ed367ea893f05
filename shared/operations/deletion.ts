import { signInKeys, type User } from "../access/members/user.ts";
import * as organizations from "../access/organizations/organization.ts";
import { chunk } from "../aws/table/chunk.ts";
import { condition, exists } from "../aws/table/condition.ts";
import { type Key, keys, type ListKind, listKinds, organizationOf } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import * as tallies from "../lists/tally.ts";
import { type Email, emails } from "../monitoring/emails/record.ts";
import { ownerWordRows } from "../monitoring/emails/search.ts";

/** Rows that are deleted at the same time. */
const concurrency = 25;

/** Workers of a scan, or of a request to acknowledge many findings, go on only while its lock exists. */
const locksOf = (org: number): Key[] => [
  keys.scanLock(org),
  keys.acknowledgementLock(org),
  keys.severityLock(org),
  keys.rulesLock(org),
];

/**
 * Begins the deletion of an organization. From now on its requests are refused, no new work starts, and work
 * in progress loses its lock and ends. The sweep deletes the rows later (`resume`).
 */
export const begin = async (org: number): Promise<"begun" | "unknown"> => {
  if ((await organizations.get(org)) === undefined) return "unknown";
  await organizations.markDeleting(org);
  for (const key of [keys.apiKey(org, ""), keys.session(org, 0, ""), keys.connectedDirectory(org, 0)])
    await deletePartition(key);
  for (const key of locksOf(org)) await table.remove(key);
  return "begun";
};

/**
 * Deletes all rows of an organization once `waitSeconds` have passed since the sweep first saw its deletion.
 * Before that, does nothing. The organization's own row goes last: the next sweep finds a deletion that was
 * interrupted, or stopped by `mayGoOn`. `key` is that of this row.
 */
export const resume = async (key: Key, waitSeconds: number, mayGoOn: () => boolean): Promise<void> => {
  const org = organizationOf(key);
  const organization = await organizations.get(org);
  if (organization?.deleting !== true) return;
  if (organization.deletingSince === undefined) {
    // The wait starts by the clock of the workers that it waits for, not by the caller's of `begin`.
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
  // Names of domains that the organization has proved are in rows of the whole deployment.
  await deletePartition(keys.domainName(org, ""), async ({ sk: name }) => {
    await table.attempt(table.remove(keys.provenDomain(name), condition("#organizationId = :org", { org })));
  });
  await deletePartition(keys.domain(org, 0), ({ sk: id }) =>
    deletePartition(keys.unwatchedPart(org, Number(id), "", 0)),
  );
  const partitions = [
    keys.ownChecksOfDomain(org, 0),
    keys.unwatched(org, 0),
    keys.unwatchedCounts(org, 0),
    keys.unwatchedOfScan(org, 0),
    keys.domainRemoval(org, 0),
    keys.team(org, 0),
    keys.teamName(org, ""),
    keys.session(org, 0, ""),
    keys.apiKey(org, ""),
    keys.idempotencyKey(org, ""),
    keys.channel(org, 0),
    keys.recipient(org, ""),
    keys.removal(org, 0),
    keys.outbox(org, ""),
    keys.counts(org, ""),
    keys.news(org, "", 0),
    keys.breachDates(org, 0),
    keys.comment(org, 0, 0),
    keys.channelRemoval(org, 0),
    keys.acknowledgement(org, 0),
    keys.connectedDirectory(org, 0),
    keys.personName(org, 0, ""),
    keys.externalId(org, 0, "PERSON", "", 0),
    keys.groupName(org, 0, ""),
    keys.groupMember(org, 0, 0),
    keys.namedAddress(org, "", ""),
    keys.directoryTask(org, ""),
    keys.outsideDomain(org, 0, ""),
    keys.seatWait(org, "", ""),
    keys.ruleMark(org, ""),
  ];
  for (const each of partitions) await deletePartition(each);
  await deletePartition<User>(keys.user(org, 0), async (user) => {
    for (const key of signInKeys(org, user)) await table.remove(key);
  });
  await deletePartition(keys.seats(org));
  await table.remove(keys.organizations(org));
  await table.remove(key);
};

/**
 * Deletes the members of a list with their own rows, block by block. Each block's tally row goes after
 * its members. Returns false when `mayGoOn` has stopped it.
 */
const deleteList = async (org: number, kind: ListKind, mayGoOn: () => boolean): Promise<boolean> => {
  for (const { block } of await tallies.read(org, kind)) {
    if (!mayGoOn()) return false;
    await deletePartition<Email>(keys.member(org, kind, block, 0), async (row) => {
      const { sk } = row;
      if (kind === "EMAIL") {
        const { domainId } = emails.groupOf(row);
        for (const key of [keys.address(org, row.email), ...ownerWordRows(org, { ...row, domainId })])
          await table.remove(key);
      }
      if (kind !== "SCAN") return;
      for (const keyOf of [keys.chunk, keys.closedChunk])
        await deletePartition(keyOf(org, Number(sk), 0, ""));
    });
    await table.remove(keys.tally(org, kind, block));
  }
  return true;
};

/** Deletes all rows of the partition of a key. What is of a row goes `before` it. */
const deletePartition = async <Row extends object>(
  { pk }: Key,
  before: (row: Row & Key) => Promise<void> = async () => {},
): Promise<void> => {
  for await (const page of table.queryPages<Row & Key>({ pk })) {
    for (const part of chunk(page, concurrency)) {
      await Promise.all(
        part.map(async (row) => {
          await before(row);
          await table.remove(row);
        }),
      );
    }
  }
};
