/** People of directories: the rows of one, and the writes that add, change and delete it. */
import { absent, asRead, type Write } from "../aws/table/condition.ts";
import { type Key, keys } from "../aws/table/keys.ts";
import * as table from "../aws/table/table.ts";
import { domainOf } from "../contract/address.ts";
import type { Reserved } from "../lists/blocks.ts";
import { countedList } from "../lists/counted-list.ts";
import type { MemberWrite } from "../lists/member-writes.ts";
import { emailAddress } from "../monitoring/emails/email-schema.ts";
import { addressTask, task } from "./follow/task.ts";

/** What is stored of a SCIM user (RFC 7643, 4.1 and 4.3), with the names of its attributes. */
export type StoredUser = {
  userName: string;
  active: boolean;
  externalId?: string;
  displayName?: string;
  name?: { [Part in NamePart]?: string };
  title?: string;
  preferredLanguage?: string;
  emails?: StoredEmail[];
  department?: string;
  employeeNumber?: string;
  manager?: { value: string; displayName?: string };
  /** ISO 8601, in UTC with milliseconds. */
  passwordChangedAt?: string;
  privileged?: boolean;
};

export const nameParts = [
  "formatted",
  "familyName",
  "givenName",
  "middleName",
  "honorificPrefix",
  "honorificSuffix",
] as const;
type NamePart = (typeof nameParts)[number];

export type StoredEmail = { value: string; type?: string; display?: string; primary?: boolean };

export type PersonRow = {
  user: StoredUser;
  /** Ids of groups. */
  groups?: Set<number>;
  modifiedAt: string;
};

/** `hasAddress`: one that can be watched once its domain is verified. */
type PersonGroup = { directoryId: number; isActive: boolean; hasAddress: boolean };

export const people = countedList<PersonGroup, PersonRow>("PERSON", {
  directoryId: "integer",
  isActive: "boolean",
  hasAddress: "boolean",
});

export type Person = NonNullable<Awaited<ReturnType<typeof people.get>>>;

export const directoryOf = (person: Person): number => people.groupOf(person).directoryId;

/** The id of a person or group as SCIM writes it: a number. Others are nobody's. */
export const idOf = (text: string): number | undefined =>
  /^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined;

/** In this form names of users and groups are equal that differ in case alone. */
export const comparable = (name: string): string => name.toLowerCase();

/** For sentences: the display name, else the full name, else the user's name. */
export const nameOf = ({ displayName, name, userName }: StoredUser): string =>
  displayName ?? fullNameOf(name) ?? userName;

/** For the owner of an address; null: the directory names nobody. */
export const ownerNameOf = ({ displayName, name }: StoredUser): string | null =>
  displayName ?? fullNameOf(name) ?? null;

const fullNameOf = (name: StoredUser["name"]): string | undefined => {
  if (name === undefined) return undefined;
  const { formatted, givenName, familyName } = name;
  return formatted ?? ([givenName, familyName].filter(Boolean).join(" ") || undefined);
};

/** The addresses of a person: the values of `emails` and, if it is one, the user's name. */
export const addressesOf = ({ emails = [], userName }: StoredUser): string[] => [
  ...new Set(
    [...emails.map(({ value }) => value), userName].flatMap(
      (text) => emailAddress.safeParse(text).data ?? [],
    ),
  ),
];

const naming = (org: number, email: string, directory: number, person: number): Key =>
  keys.naming(org, domainOf(email), email, directory, person);

type Names = Pick<StoredUser, "userName" | "externalId">;

const nameClaim = (org: number, directory: number, id: number, userName: string): Write => ({
  put: { ...keys.personName(org, directory, comparable(userName)), id },
  if: absent,
  refusal: "userNameTaken",
});

const claimWrites = (
  org: number,
  directory: number,
  id: number,
  { userName, externalId }: Partial<Names>,
): Write[] => [
  ...(userName === undefined ? [] : [nameClaim(org, directory, id, userName)]),
  ...(externalId === undefined
    ? []
    : [{ put: { ...keys.externalId(org, directory, "PERSON", externalId, id), id } }]),
];

const releaseWrites = (
  org: number,
  directory: number,
  id: number,
  { userName, externalId }: Partial<Names>,
): Write[] => [
  ...(userName === undefined ? [] : [{ delete: keys.personName(org, directory, comparable(userName)) }]),
  ...(externalId === undefined
    ? []
    : [{ delete: keys.externalId(org, directory, "PERSON", externalId, id) }]),
];

export const additionOf = (
  org: number,
  directory: number,
  reserved: Reserved,
  user: StoredUser,
): { member: MemberWrite; also: Write[] } => {
  const { id, createdAt } = reserved;
  const addresses = addressesOf(user);
  return {
    member: people.put(
      org,
      reserved,
      { directoryId: directory, isActive: user.active, hasAddress: addresses.length > 0 },
      { user, modifiedAt: createdAt },
    ),
    also: [
      ...claimWrites(org, directory, id, user),
      ...addresses.map((email): Write => ({ put: naming(org, email, directory, id) })),
      ...addresses.map((email) => addressTask(org, email)),
    ],
  };
};

/** What matters to the addresses of a person. */
const followed = (user: StoredUser): string => {
  const { active, department, passwordChangedAt, privileged } = user;
  return JSON.stringify([active, ownerNameOf(user), nameOf(user), department, passwordChangedAt, privileged]);
};

/** The writes that make a person the given user; they fail unless it is as in `row`. */
export const changeOf = (
  org: number,
  row: Person,
  user: StoredUser,
): { member: MemberWrite; also: Write[] } => {
  const { id, user: before } = row;
  const from = people.groupOf(row);
  const directory = from.directoryId;
  const [old, next] = [new Set(addressesOf(before)), new Set(addressesOf(user))];
  const isRenamed = comparable(before.userName) !== comparable(user.userName);
  const isOther = before.externalId !== user.externalId;
  const names = (of: StoredUser): Partial<Names> => ({
    ...(isRenamed && { userName: of.userName }),
    ...(isOther && of.externalId !== undefined && { externalId: of.externalId }),
  });
  const gone = addressesOf(before).filter((email) => !next.has(email));
  const come = addressesOf(user).filter((email) => !old.has(email));
  const touched = followed(before) === followed(user) ? [...gone, ...come] : [...gone, ...next];
  return {
    member: people.change(org, id, {
      from,
      to: { ...from, isActive: user.active, hasAddress: next.size > 0 },
      set: { user, modifiedAt: new Date().toISOString() },
      if: asRead({ user: before }),
    }),
    also: [
      ...releaseWrites(org, directory, id, names(before)),
      ...claimWrites(org, directory, id, names(user)),
      ...gone.map((email): Write => ({ delete: naming(org, email, directory, id) })),
      ...come.map((email): Write => ({ put: naming(org, email, directory, id) })),
      ...touched.map((email) => addressTask(org, email)),
    ],
  };
};

/**
 * The writes that delete a person. Its addresses keep that it left, and when: so findings can still be
 * explained.
 */
export const removalOf = (org: number, row: Person): { member: MemberWrite; also: Write[] } => {
  const { id, user, groups = new Set<number>() } = row;
  const directory = directoryOf(row);
  const leftAt = new Date().toISOString();
  return {
    // Who joins a group meanwhile would stay its member.
    member: people.delete(org, id, people.groupOf(row), asRead({ user, groups: row.groups })),
    also: [
      ...releaseWrites(org, directory, id, user),
      ...addressesOf(user).map(
        (email): Write => ({ put: { ...naming(org, email, directory, id), leftAt, name: nameOf(user) } }),
      ),
      ...addressesOf(user).map((email) => addressTask(org, email)),
      ...[...groups]
        .slice(0, mostGroupsAtOnce)
        .map((group): Write => ({ delete: keys.groupMember(org, group, id) })),
      ...(groups.size > mostGroupsAtOnce ? [task(org, "LEAVER", id, { groups })] : []),
    ],
  };
};

/** Beyond this, memberships of who is deleted are removed later. */
const mostGroupsAtOnce = 20;

/** The id of the user of this name; undefined if the directory has none. */
export const byName = async (org: number, directory: number, userName: string): Promise<number | undefined> =>
  (await table.get<{ id: number }>(keys.personName(org, directory, comparable(userName))))?.id;

/** The ids of the people, or groups, to which their directory gives this id. */
export const byExternalId = async (
  org: number,
  directory: number,
  kind: "PERSON" | "GROUP",
  externalId: string,
): Promise<number[]> => {
  const { pk, sk } = keys.externalId(org, directory, kind, externalId, 0);
  const rows = await table.query<{ id: number }>({ pk, prefix: sk.slice(0, -16) });
  return rows.map(({ id }) => id);
};
