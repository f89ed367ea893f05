/** Connected directories of an organization. Each pushes what it knows of people; the service has no key to it. */
import * as activity from "../access/activity/activity.ts";
import type { Actor } from "../access/activity/actor.ts";
import { hashOf, mintDirectoryToken } from "../access/keys/secret.ts";
import { absent, asRead } from "../aws/table/condition.ts";
import { type Key, keys } from "../aws/table/keys.ts";
import { withOptimisticRetry } from "../aws/table/optimistic-retry.ts";
import * as table from "../aws/table/table.ts";
import { Refusal } from "../contract/errors.ts";
import { drawId } from "../lists/blocks.ts";
import { emails } from "../monitoring/emails/record.ts";
import type { ListedDirectory, TeamFrom, Unusable } from "./directory-schema.ts";
import type { DirectoryLog } from "./follow/log.ts";
import { domainsOf } from "./follow/outside.ts";
import { task, wake } from "./follow/task.ts";
import { groups } from "./group.ts";
import { nameOf, people } from "./person.ts";

export type Directory = {
  id: number;
  /** One of the places that an organization has for directories; a part of the token. */
  place: number;
  name: string;
  createdAt: string;
  teamFrom: TeamFrom;
  /** The hash of the token. */
  hash: string;
  /** When its latest request came, exact to a minute; absent before the first. ISO 8601. */
  lastUsedAt?: string;
};

const mostDirectories = 5;

export const rows = (org: number): Promise<(Directory & Key)[]> =>
  table.query({ pk: keys.connectedDirectory(org, 0).pk });

const existing = async (org: number, id: number): Promise<Directory & Key> => {
  const row = (await rows(org)).find((each) => each.id === id);
  if (row === undefined) throw new Refusal("directoryNotFound");
  return row;
};

/**
 * All of them, the first first, with exact counts of what they have brought. `waitingForSeat`: how many
 * addresses wait for a seat. That costs a read unit for each 40, and one trip more where somebody waits.
 */
export const list = async (
  org: number,
): Promise<{ directories: ListedDirectory[]; waitingForSeat: number }> => {
  const [connected, ofPeople, ofGroups, ofEmails, log] = await Promise.all([
    rows(org),
    people.tally(org),
    groups.tally(org),
    emails.tally(org),
    table.get<DirectoryLog>(keys.directoryLog(org)),
  ]);
  // Who waits for a seat is there already, disabled.
  const mayWait = emails.sum(
    ofEmails,
    ({ directoryId, isActive, hasLeft }) => directoryId !== null && !isActive && !hasLeft,
  );
  const waitingForSeat = mayWait === 0 ? 0 : await table.count({ pk: keys.seatWait(org, "", "").pk });
  const all = connected
    .toSorted((one, other) => one.id - other.id)
    .map(({ id, name, createdAt, lastUsedAt, teamFrom }) => {
      const isOf = (group: { directoryId: number | null }) => group.directoryId === id;
      const countEmails = (isActive: boolean) =>
        emails.sum(ofEmails, (group) => isOf(group) && group.isActive === isActive);
      return {
        id,
        name,
        createdAt,
        teamFrom,
        lastRequestAt: lastUsedAt ?? null,
        users: people.sum(ofPeople, isOf),
        activeUsers: people.sum(ofPeople, (group) => isOf(group) && group.isActive),
        withoutAddress: people.sum(ofPeople, (group) => isOf(group) && group.isActive && !group.hasAddress),
        groups: groups.sum(ofGroups, isOf),
        addresses: {
          watched: countEmails(true),
          disabled: countEmails(false),
          otherDomains: log?.[`outside${id}`] ?? 0,
        },
      };
    });
  return { directories: all, waitingForSeat };
};

/** How many users without an address are named. */
const mostNamed = 20;

/** What a directory has brought that cannot be watched. Refuses `directoryNotFound`. */
export const unusableOf = async (org: number, id: number): Promise<Unusable> => {
  const [, otherDomains, { items }] = await Promise.all([
    existing(org, id),
    domainsOf(org, id),
    people.page(org, {
      limit: mostNamed,
      offset: 0,
      attributes: ["user"],
      matches: ({ directoryId, isActive, hasAddress }) => directoryId === id && isActive && !hasAddress,
    }),
  ]);
  return {
    otherDomains,
    withoutAddress: items.map(({ user }) => ({ displayName: nameOf(user), userName: user.userName })),
  };
};

/** Connects a directory. The caller must show `token` now. Refuses `directoryLimitReached`. */
export const connect = (
  org: number,
  name: string,
  actor: Actor,
): Promise<{ id: number; name: string; token: string }> =>
  withOptimisticRetry(async () => {
    const taken = (await rows(org)).map(({ place }) => place);
    const place = Array.from({ length: mostDirectories }, (_, index) => index + 1).find(
      (each) => !taken.includes(each),
    );
    if (place === undefined) throw new Refusal("directoryLimitReached");
    const [id, slot] = await Promise.all([drawId("DIRECTORY"), activity.slot(org)]);
    const token = mintDirectoryToken(org, place);
    const row: Directory = {
      id,
      place,
      name,
      createdAt: slot.createdAt,
      teamFrom: "none",
      hash: hashOf(token),
    };
    await table.transact([
      { put: { ...keys.connectedDirectory(org, place), ...row }, if: absent },
      ...activity.writes(org, slot, {
        action: "directory.connected",
        summary: `Connected the directory ${name}`,
        actor,
      }),
    ]);
    return { id, name, token };
  });

export type DirectoryChange = {
  name?: string | undefined;
  teamFrom?: TeamFrom | undefined;
  newToken?: true | undefined;
};

const teamsInWords = { none: "no teams", department: "teams by department", group: "teams by group" };

/**
 * Renames a directory, says where teams come from, or replaces its token, which ends the old one at once. A
 * change that changes nothing succeeds and is not logged. Refuses `directoryNotFound`.
 */
export const change = (
  org: number,
  id: number,
  { name: to, teamFrom: from, newToken }: DirectoryChange,
  actor: Actor,
): Promise<{ token: string } | undefined> =>
  withOptimisticRetry(async () => {
    const row = await existing(org, id);
    const name = to ?? row.name;
    const teamFrom = from ?? row.teamFrom;
    const isRenamed = name !== row.name;
    const isRegrouped = teamFrom !== row.teamFrom;
    if (!isRenamed && !isRegrouped && newToken === undefined) return undefined;
    const token = newToken && mintDirectoryToken(org, row.place);
    const slot = await activity.slot(org);
    const summary = [
      ...(token === undefined ? [] : [`Replaced the token of the directory ${row.name}`]),
      ...(isRenamed ? [`Renamed the directory ${row.name} to ${name}`] : []),
      ...(isRegrouped ? [`Set the directory ${name} to give ${teamsInWords[teamFrom]}`] : []),
    ].join(". ");
    await table.transact([
      {
        update: { pk: row.pk, sk: row.sk },
        set: { name, teamFrom, ...(token !== undefined && { hash: hashOf(token) }) },
        if: asRead({ id, name: row.name, teamFrom: row.teamFrom, hash: row.hash }),
      },
      ...(isRegrouped ? [task(org, "USERS", id)] : []),
      ...activity.writes(org, slot, {
        action: token === undefined ? "directory.changed" : "directory.token_replaced",
        summary,
        actor,
      }),
    ]);
    if (isRegrouped) await wake(org);
    return token === undefined ? undefined : { token };
  });

/**
 * Disconnects a directory: its token ends at once. Its people and groups are forgotten one after another;
 * e-mails and findings stay as they are. Refuses `directoryNotFound`.
 */
export const disconnect = (org: number, id: number, actor: Actor): Promise<void> =>
  withOptimisticRetry(async () => {
    const row = await existing(org, id);
    const slot = await activity.slot(org);
    await table.transact([
      { delete: { pk: row.pk, sk: row.sk }, if: asRead({ id }) },
      task(org, "FORGET", id),
      ...activity.writes(org, slot, {
        action: "directory.removed",
        summary: `Disconnected the directory ${row.name}`,
        actor,
      }),
    ]);
    await wake(org);
  });
