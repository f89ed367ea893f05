/** What directories say of the person behind an address, in names, live from their rows. */
import * as table from "../aws/table/table.ts";
import { type Email, emails } from "../monitoring/emails/record.ts";
import * as directories from "./directory.ts";
import { inOrder, latest, type Naming } from "./follow/address.ts";
import { namingsOf, readNamed } from "./follow/named.ts";
import { type GroupRow, groups } from "./group.ts";
import { directoryOf, idOf, nameOf, type Person, people } from "./person.ts";
import type { AddressChange, ShownPerson } from "./view-schema.ts";

/** `leftAt`: ISO 8601; null: the person has not left. `history`: newest first. */
export type View = { person: ShownPerson | null; leftAt: string | null; history: AddressChange[] };

/** More groups of a person are not named. */
const mostGroups = 100;

/**
 * What directories say of the person of an e-mail, and what followed. Of several people
 * with the address the first who is active is shown, in the order of their directories. Takes three trips at most,
 * and none where no directory has named the address.
 */
export const viewOf = async (org: number, row: Email): Promise<View> => {
  const { person: facts, email } = row;
  const leftAt = facts?.leftAt ?? null;
  // Of a directory that was disconnected, the row alone knows who has left.
  if (emails.groupOf(row).directoryId === null)
    return { person: facts === undefined ? null : deleted(facts), leftAt, history: [] };
  const { namings, history } = await read(org, email);
  const [first] = namings.toSorted(inOrder);
  if (first?.person === undefined)
    return { person: facts?.leftAt === undefined ? null : deleted(facts), leftAt, history };
  const { user, groups: groupIds = new Set<number>() } = first.person;
  const names = await namesOf(
    org,
    first.directory.id,
    [...groupIds].slice(0, mostGroups),
    user.manager?.value,
  );
  const users = namings.flatMap(({ person }) => person?.user ?? []);
  const person = {
    directory: first.directory.name,
    displayName: nameOf(user),
    title: user.title ?? null,
    department: user.department ?? null,
    manager: names.manager ?? user.manager?.displayName ?? null,
    active: user.active,
    passwordChangedAt: latest(users.map((each) => each.passwordChangedAt)) ?? null,
    privileged: users.some((each) => each.active && each.privileged === true),
    groups: names.groups,
  };
  return { person, leftAt, history };
};

/** A person whom the directory does not have any more. */
const deleted = (facts: NonNullable<Email["person"]>): ShownPerson => ({
  directory: facts.directory,
  displayName: facts.name,
  title: null,
  department: null,
  manager: null,
  active: false,
  passwordChangedAt: facts.passwordChangedAt ?? null,
  privileged: facts.isPrivileged === true,
  groups: [],
});

/** The people of connected directories who have the address, or had it when they were deleted. */
const read = async (org: number, email: string): Promise<{ namings: Naming[]; history: AddressChange[] }> => {
  const [{ row, ofPeople }, connected] = await Promise.all([readNamed(org, email), directories.rows(org)]);
  return { namings: await namingsOf(org, ofPeople, connected), history: row?.history ?? [] };
};

/** Names of groups, and of a manager by the id, as far as its directory has it: some clients send ids of their own. */
const namesOf = async (
  org: number,
  directory: number,
  groupIds: readonly number[],
  manager: string | undefined,
): Promise<{ groups: string[]; manager: string | undefined }> => {
  const managerId = manager === undefined ? undefined : idOf(manager);
  const wanted = [
    ...groupIds.map((id) => groups.key(org, id)),
    ...(managerId === undefined ? [] : [people.key(org, managerId)]),
  ];
  const rows = wanted.length === 0 ? [] : await table.getMany<GroupRow & Person>(wanted);
  const managerRow = managerId === undefined ? undefined : rows.at(-1);
  const isOfDirectory = managerRow !== undefined && directoryOf(managerRow) === directory;
  return {
    groups: rows
      .slice(0, groupIds.length)
      .flatMap((row) => row?.displayName ?? [])
      .sort((one, other) => one.localeCompare(other, "en")),
    manager: isOfDirectory ? nameOf(managerRow.user) : undefined,
  };
};
