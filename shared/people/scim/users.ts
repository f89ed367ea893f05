/** Requests about SCIM users (RFC 7644, 3). */
import { isDeepStrictEqual } from "node:util";
import type { Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { domainOf } from "../../contract/address.ts";
import { Refusal } from "../../contract/errors.ts";
import { reserveOne } from "../../lists/blocks.ts";
import type { MemberWrite } from "../../lists/member-writes.ts";
import { wake } from "../follow/task.ts";
import { groups } from "../group.ts";
import {
  additionOf,
  byExternalId,
  byName,
  changeOf,
  comparable,
  directoryOf,
  idOf,
  type Person,
  people,
  removalOf,
  type StoredUser,
} from "../person.ts";
import type { Comparison } from "./filter.ts";
import { patched, readOperations } from "./patch.ts";
import { invalid, Problem } from "./problem.ts";
import type { Answer, Caller, Query } from "./request.ts";
import { attributesOf, type NamedGroup, readUser, userResource } from "./user.ts";

type Body = Record<string, unknown>;

const notFound = (): Problem => new Problem(404, "The directory has no user with this id");

const existing = async ({ org, directory }: Caller, id: string): Promise<Person> => {
  const number = idOf(id);
  const person = number === undefined ? undefined : await people.get(org, number);
  if (person === undefined || directoryOf(person) !== directory.id) throw notFound();
  return person;
};

/** Users as clients see them, with the groups that each is in. */
const shown = async ({ org, url }: Caller, persons: readonly Person[]): Promise<Body[]> => {
  const ids = [...new Set(persons.flatMap((person) => [...(person.groups ?? [])]))];
  const rows = ids.length === 0 ? [] : await groups.getMany(org, ids, { consistent: false });
  const names = new Map(
    rows.flatMap((row): [number, NamedGroup][] =>
      row === undefined ? [] : [[row.id, { id: row.id, name: row.displayName }]],
    ),
  );
  return persons.map((person) =>
    userResource(
      person,
      [...(person.groups ?? [])].flatMap((id) => names.get(id) ?? []),
      url,
    ),
  );
};

const shownOne = async (caller: Caller, person: Person): Promise<Body> =>
  (await shown(caller, [person]))[0] as Body;

const write = async (
  { org }: Caller,
  { member, also }: { member: MemberWrite; also: readonly Write[] },
): Promise<void> => {
  await table.transact([...people.writes(org, [member]), ...also]);
  await wake(org);
};

export const create = async (caller: Caller, body: Body): Promise<Answer> => {
  const { org, directory, url } = caller;
  const user = readUser(body);
  const taken = await byName(org, directory.id, user.userName);
  // Before an id is drawn, which would be lost.
  if (taken !== undefined) throw new Refusal("userNameTaken");
  const reserved = await reserveOne(org, "PERSON");
  await write(caller, additionOf(org, directory.id, reserved, user));
  const row = {
    user,
    id: reserved.id,
    createdAt: reserved.createdAt,
    modifiedAt: reserved.createdAt,
  } as Person;
  return { status: 201, body: userResource(row, [], url), location: `${url}/Users/${reserved.id}` };
};

export const get = async (caller: Caller, id: string): Promise<Answer> => ({
  status: 200,
  body: await shownOne(caller, await existing(caller, id)),
});

/** Makes a user what `changed` gives; one that stays as it is is not written. */
const change = (caller: Caller, id: string, changed: (before: StoredUser) => StoredUser): Promise<Answer> =>
  withOptimisticRetry(async () => {
    const row = await existing(caller, id);
    const user = changed(row.user);
    if (isDeepStrictEqual(user, row.user)) return { status: 200, body: await shownOne(caller, row) };
    const writes = changeOf(caller.org, row, user);
    await write(caller, writes);
    const modifiedAt = new Date().toISOString();
    return { status: 200, body: await shownOne(caller, { ...row, user, modifiedAt }) };
  });

export const replace = async (caller: Caller, id: string, body: Body): Promise<Answer> => {
  const user = readUser(body);
  return change(caller, id, () => user);
};

export const patch = async (caller: Caller, id: string, body: Body): Promise<Answer> => {
  const operations = readOperations(body);
  return change(caller, id, (before) => readUser(patched(attributesOf(before), operations)));
};

export const remove = (caller: Caller, id: string): Promise<Answer> =>
  withOptimisticRetry(async () => {
    const row = await existing(caller, id);
    await write(caller, removalOf(caller.org, row));
    return { status: 204 };
  });

/** A page of users, and how many match in all. */
export const find = async (
  caller: Caller,
  { filter, startIndex, count }: Query,
): Promise<{ total: number; resources: Body[] }> => {
  const { org, directory } = caller;
  const offset = startIndex - 1;
  const candidates = await candidatesOf(caller, filter);
  if (candidates !== undefined) {
    const persons = (await people.getMany(org, candidates)).filter(
      (person) => person !== undefined && directoryOf(person) === directory.id,
    ) as Person[];
    return pageOf(caller, persons, filter, { offset, count });
  }
  const rest = filter.filter(({ attribute }) => attribute !== "active");
  const active = filter.flatMap(({ attribute, value }) => (attribute === "active" ? value : []));
  const isOf = (group: { directoryId: number; isActive: boolean }): boolean =>
    group.directoryId === directory.id && active.every((value) => group.isActive === value);
  if (rest.length === 0) {
    const { items, total } = await people.page(org, { limit: count, offset, matches: isOf });
    return { total, resources: await shown(caller, items) };
  }
  // No index has parts of names: such a search reads the directory's people.
  const persons: Person[] = [];
  const blocks = people.blocks(await people.tally(org), isOf);
  for await (const members of people.membersOf(org, blocks))
    persons.push(...members.filter((member) => isOf(people.groupOf(member))));
  return pageOf(caller, persons, filter, { offset, count });
};

const pageOf = async (
  caller: Caller,
  persons: readonly Person[],
  filter: readonly Comparison[],
  { offset, count }: { offset: number; count: number },
): Promise<{ total: number; resources: Body[] }> => {
  const matching = persons
    .filter((person) => filter.every((comparison) => matches(person, comparison)))
    .toSorted((one, other) => other.id - one.id);
  const page = matching.slice(offset, offset + count);
  return { total: matching.length, resources: await shown(caller, page) };
};

/** The ids of those whom an index finds for one of the comparisons; undefined: no index does. */
const candidatesOf = async (
  { org, directory }: Caller,
  filter: readonly Comparison[],
): Promise<number[] | undefined> => {
  const textOf = (...attributes: string[]): string | undefined => {
    const found = filter.find(({ attribute, op }) => op === "eq" && attributes.includes(attribute));
    return found === undefined ? undefined : String(found.value);
  };
  const id = textOf("id");
  if (id !== undefined) return [idOf(id) ?? []].flat();
  const userName = textOf("userName");
  if (userName !== undefined) return [(await byName(org, directory.id, userName)) ?? []].flat();
  const externalId = textOf("externalId");
  if (externalId !== undefined) return byExternalId(org, directory.id, "PERSON", externalId);
  const address = textOf("emails", "emails.value", "emails.work")?.toLowerCase();
  if (address === undefined) return undefined;
  const { pk, sk: prefix } = keys.namedAddress(org, domainOf(address), address);
  const rows = await table.query<{ sk: string }>({ pk, prefix: `${prefix}#` });
  return rows.map(({ sk }) => Number(sk.slice(sk.lastIndexOf("#") + 1)));
};

const matches = ({ id, user }: Person, { attribute, op, value }: Comparison): boolean => {
  if (attribute === "active") return user.active === value;
  const wanted = String(value);
  if (attribute === "id") return String(id) === wanted;
  if (attribute === "externalId") return user.externalId === wanted;
  if (attribute === "manager") return user.manager?.value === wanted;
  const texts = textsOf(user, attribute).map(comparable);
  const text = comparable(wanted);
  if (op === "eq") return texts.includes(text);
  return texts.some((each) => (op === "sw" ? each.startsWith(text) : each.includes(text)));
};

/** The texts of an attribute that is compared without case (RFC 7643, 4.1). */
const textsOf = (
  { userName, displayName, name = {}, emails = [] }: StoredUser,
  attribute: string,
): string[] => {
  if (attribute === "userName") return [userName];
  if (attribute === "displayName") return displayName === undefined ? [] : [displayName];
  if (attribute === "emails.work")
    return emails.filter(({ type }) => type?.toLowerCase() === "work").map(({ value }) => value);
  if (attribute.startsWith("emails")) return emails.map(({ value }) => value);
  const part = attribute.slice("name.".length) as keyof typeof name;
  return name[part] === undefined ? [] : [name[part]];
};

/** People by their ids. Refuses ids that are no users of the directory, before anything is written. */
export const requireAll = async (
  { org, directory }: Caller,
  ids: readonly (number | undefined)[],
): Promise<Map<number, Person>> => {
  const known = ids.filter((id) => id !== undefined);
  const persons = (await people.getMany(org, known)).filter(
    (person) => person !== undefined && directoryOf(person) === directory.id,
  ) as Person[];
  if (persons.length < ids.length)
    throw invalid("invalidValue", "members: one of them is no user of the directory");
  return new Map(persons.map((person) => [person.id, person]));
};
