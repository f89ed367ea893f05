/** Groups of directories. Members are rows of their own, so that none costs more in a large group. */
import { absent, asRead, type Write } from "../aws/table/condition.ts";
import { keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import type { Reserved } from "../lists/blocks.ts";
import { countedList } from "../lists/counted-list.ts";
import type { MemberWrite } from "../lists/member-writes.ts";
import { task } from "./follow/task.ts";
import { comparable } from "./person.ts";

export type StoredGroup = { displayName: string; externalId?: string };

export type GroupRow = StoredGroup & { modifiedAt: string };

export const groups = countedList<{ directoryId: number }, GroupRow>("GROUP", { directoryId: "integer" });

export type Group = NonNullable<Awaited<ReturnType<typeof groups.get>>>;

export const directoryOf = (group: Group): number => groups.groupOf(group).directoryId;

type GroupWrites = { member: MemberWrite; also: Write[] };

const nameWrite = (org: number, directory: number, id: number, name: string): Write => ({
  put: { ...keys.groupName(org, directory, comparable(name)), id },
  if: absent,
  refusal: "groupNameTaken",
});

const externalKey = (org: number, directory: number, id: number, externalId: string) =>
  keys.externalId(org, directory, "GROUP", externalId, id);

export const additionOf = (
  org: number,
  directory: number,
  reserved: Reserved,
  group: StoredGroup,
): GroupWrites => ({
  member: groups.put(org, reserved, { directoryId: directory }, { ...group, modifiedAt: reserved.createdAt }),
  also: [
    nameWrite(org, directory, reserved.id, group.displayName),
    ...(group.externalId === undefined
      ? []
      : [
          {
            put: { ...externalKey(org, directory, reserved.id, group.externalId), id: reserved.id },
          },
        ]),
  ],
});

/** The writes that make a group as `to` says; they fail unless it is as in `row`. Its people follow its name. */
export const changeOf = (org: number, row: Group, to: StoredGroup): GroupWrites => {
  const { id, displayName, externalId } = row;
  const from = groups.groupOf(row);
  const directory = from.directoryId;
  const isRenamed = displayName !== to.displayName;
  const isOther = comparable(displayName) !== comparable(to.displayName);
  const isOtherId = externalId !== to.externalId;
  return {
    member: groups.change(org, id, {
      from,
      set: { ...to, modifiedAt: new Date().toISOString() },
      ...(to.externalId === undefined && { remove: ["externalId"] }),
      if: asRead({ displayName, externalId }),
    }),
    also: [
      ...(isOther
        ? [
            { delete: keys.groupName(org, directory, comparable(displayName)) },
            nameWrite(org, directory, id, to.displayName),
          ]
        : []),
      ...(isOtherId && externalId !== undefined
        ? [{ delete: externalKey(org, directory, id, externalId) }]
        : []),
      ...(isOtherId && to.externalId !== undefined
        ? [{ put: { ...externalKey(org, directory, id, to.externalId), id } }]
        : []),
      ...(isRenamed ? [task(org, "GROUP", id)] : []),
    ],
  };
};

/** The writes that delete a group. Its people lose it one after another. */
export const removalOf = (org: number, row: Group): GroupWrites => {
  const { id, displayName, externalId } = row;
  const { directoryId } = groups.groupOf(row);
  return {
    member: groups.delete(org, id, { directoryId }, asRead({ displayName, externalId })),
    also: [
      { delete: keys.groupName(org, directoryId, comparable(displayName)) },
      ...(externalId === undefined ? [] : [{ delete: externalKey(org, directoryId, id, externalId) }]),
      task(org, "GROUP", id),
    ],
  };
};

export const byName = async (org: number, directory: number, name: string): Promise<number | undefined> =>
  (await table.get<{ id: number }>(keys.groupName(org, directory, comparable(name))))?.id;

/** Ids of the members, ascending; of at most `limit` with an id above `after`. */
export const membersOf = async (
  org: number,
  group: number,
  { after = 0, limit }: { after?: number; limit?: number } = {},
): Promise<number[]> => {
  const { pk, sk: from } = keys.groupMember(org, group, after + 1);
  const { sk: to } = keys.groupMember(org, group, Number.MAX_SAFE_INTEGER);
  const rows = await table.query<{ sk: string }>({ pk, from, to, limit });
  return rows.map(({ sk }) => Number(sk.slice(sk.indexOf("#") + 1)));
};
