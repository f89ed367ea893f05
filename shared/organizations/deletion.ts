import { exists } from "../table/condition.ts";
import * as directories from "../table/directory.ts";
import {
  dueShard,
  type Key,
  keys,
  type ListKind,
  listKinds,
  organizationOf,
  rollupPrefix,
} from "../table/keys.ts";
import { parts } from "../table/parts.ts";
import * as table from "../table/table.ts";
import type { Organization } from "./organization.ts";

/** Rows deleted at the same time. */
const width = 25;

/**
 * Begins to delete an organization: from now on nobody is let in, no new work starts, and a scan in progress ends, since its
 * workers write only while its lock is there. The sweep deletes its rows once everything that may still be at work has ended.
 */
export const begin = async (org: number): Promise<"begun" | "unknown"> => {
  try {
    await table.update(keys.organization(org), {
      // Due at once, whatever time it is on the machine of who asks.
      set: { deleting: true, dueShard: dueShard("DELETION", org), dueAt: new Date(0).toISOString() },
      if: exists,
    });
  } catch (error) {
    if (error instanceof table.ConditionFailed) return "unknown";
    throw error;
  }
  for (const { pk } of [keys.apiKey(org, ""), keys.session(org, "")]) await deletePartition(pk);
  await table.remove(keys.scanLock(org));
  return "begun";
};

/**
 * Deletes all rows of an organization whose deletion began `waitSeconds` ago, its own row last, so that a deletion that
 * was cut off, or that may not go on, is found again. Does nothing before.
 */
export const resume = async (key: Key, waitSeconds: number, mayGoOn: () => boolean): Promise<void> => {
  const organization = await table.get<Organization & { deletingSince?: string }>(key);
  if (organization?.deleting !== true) return;
  const org = organizationOf(key);
  if (organization.deletingSince === undefined) {
    // By the sweep's own clock, which is that of the workers who are waited for.
    await table.update(key, { setOnce: { deletingSince: new Date().toISOString() }, if: exists });
    return;
  }
  if (Date.now() < Date.parse(organization.deletingSince) + waitSeconds * 1000) return;
  if ((await table.get(keys.scanLock(org))) !== undefined) {
    // A scan started just when the deletion began: what its workers are at now is waited out too.
    await table.remove(keys.scanLock(org));
    await table.update(key, { set: { deletingSince: new Date().toISOString() }, if: exists });
    return;
  }
  for (const kind of listKinds) {
    if (!(await deleteList(org, kind, mayGoOn))) return;
  }
  const partitions = [
    keys.domain(org, 0),
    keys.domainName(org, ""),
    keys.team(org, 0),
    keys.user(org, 0),
    keys.userEmail(org, ""),
    keys.session(org, ""),
    keys.apiKey(org, ""),
    keys.channel(org, 0),
    keys.removal(org, 0),
    keys.channelRemoval(org, 0),
  ];
  for (const { pk } of partitions) await deletePartition(pk);
  await deletePartition(key.pk, (row) => row.sk !== key.sk);
  await table.remove(keys.organizations(org));
  await table.remove(key);
};

/** Deletes the members of a list, with what hangs on each, and a block's directory row after its members. False: not all. */
const deleteList = async (org: number, kind: ListKind, mayGoOn: () => boolean): Promise<boolean> => {
  const { directory } = await directories.read(org, kind);
  for (const { key, rows } of directory) {
    for (const { block } of rows()) {
      if (!mayGoOn()) return false;
      await deleteMembers(org, kind, block);
      await table.remove(keys.directory(org, kind, block));
    }
    if (key.sk.startsWith(rollupPrefix)) await table.remove(key);
  }
  // What lies beside the blocks' rows.
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
        await deletePartition(keys.lookup(org, scan, 0, "").pk);
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
    for (const part of parts(rows, width)) {
      await Promise.all(
        part.map(async (row) => {
          await before(row);
          await table.remove(row);
        }),
      );
    }
  }
};
