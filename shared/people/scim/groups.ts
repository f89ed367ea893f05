/** Requests about SCIM groups (RFC 7644, 3). A change of members costs what it changes, however large the group. */
import * as z from "zod/mini";
import type { Write } from "../../aws/table/condition.ts";
import { absent } from "../../aws/table/condition.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { valid } from "../../contract/valid.ts";
import { reserveOne } from "../../lists/blocks.ts";
import { keyOf, type MembersTask, task, wake } from "../follow/task.ts";
import { changeMembers, peopleAtOnce, step } from "../follow/walk.ts";
import {
  additionOf,
  byName,
  changeOf,
  directoryOf,
  type Group,
  groups,
  membersOf,
  removalOf,
  type StoredGroup,
} from "../group.ts";
import { byExternalId, comparable, idOf, type Person, people } from "../person.ts";
import type { Comparison } from "./filter.ts";
import { type Operation, schemas, withNames } from "./names.ts";
import { readOperations, required } from "./patch.ts";
import { invalid, Problem } from "./problem.ts";
import type { Answer, Caller, Query } from "./request.ts";
import { keyText } from "./user.ts";
import { requireAll } from "./users.ts";

type Body = Record<string, unknown>;

/** What a request asks to read: members are left out where it does not want them. */
export type Wanted = { members: boolean };

const notFound = (): Problem => new Problem(404, "The directory has no group with this id");

const existing = async ({ org, directory }: Caller, id: string): Promise<Group> => {
  const number = idOf(id);
  const group = number === undefined ? undefined : await groups.get(org, number);
  if (group === undefined || directoryOf(group) !== directory.id) throw notFound();
  return group;
};

/** The group, once a large change of its members that is under way is done, whoever began it. */
const settled = async (caller: Caller, id: string): Promise<Group> => {
  const { org } = caller;
  const [group, task] = await Promise.all([
    existing(caller, id),
    table.get<MembersTask>(keyOf(org, "MEMBERS", id)),
  ]);
  if (task !== undefined) await step(org, task);
  return group;
};

const memberList = z.array(z.object({ value: z.string() }), "must be a list of objects with a value");

const resource = z.object({
  displayName: keyText.check(z.trim(), z.minLength(1)),
  externalId: z.optional(z.nullable(keyText)),
  members: z.optional(z.nullable(memberList)),
});

const read = (body: unknown): { group: StoredGroup; members: string[] | undefined } => {
  const { data, problem } = valid(resource, withNames(body));
  if (data === undefined)
    throw invalid("invalidValue", `${problem.path.join(".") || "The group"}: ${problem.message}`);
  const { displayName, externalId, members } = data;
  return {
    group: { displayName, ...(externalId ? { externalId } : {}) },
    members: members?.map(({ value }) => value),
  };
};

/** The urls of members are left out of larger groups, whose replies would be four times as large. */
const mostWithUrls = 1_000;

const shown = async ({ org, url }: Caller, group: Group, { members }: Wanted): Promise<Body> => {
  const { id, displayName, externalId, createdAt, modifiedAt } = group;
  const ids = members ? await membersOf(org, id) : [];
  return {
    schemas: [schemas.group],
    id: String(id),
    displayName,
    ...(externalId !== undefined && { externalId }),
    ...(members && {
      members: ids.map((member) => ({
        value: String(member),
        ...(ids.length <= mostWithUrls && { $ref: `${url}/Users/${member}` }),
        type: "User",
      })),
    }),
    meta: {
      resourceType: "Group",
      created: createdAt,
      lastModified: modifiedAt,
      location: `${url}/Groups/${id}`,
    },
  };
};

/** `known`: people who were read already. */
type Change = { add: number[]; remove: number[]; known: ReadonlyMap<number, Person> };

/**
 * Changes members as a whole. Few are changed in the transaction of `also`. Many are noted there first, and then
 * changed step by step. If this function dies, the worker goes on.
 */
const changeGroup = async (
  caller: Caller,
  group: number,
  { add, remove, known }: Change,
  also: readonly Write[],
): Promise<void> => {
  const { org, directory } = caller;
  const ids = [...add, ...remove];
  const isOne = add.length === 0 || remove.length === 0;
  if (ids.length === 0) await table.transact(also);
  else if (isOne && ids.length <= peopleAtOnce)
    await changeMembers(org, group, ids, add.length > 0 ? "add" : "remove", {
      byGroup: directory.teamFrom === "group",
      known,
      also,
    });
  else {
    const noted = task(org, "MEMBERS", group, {
      ...(add.length > 0 && { add: new Set(add) }),
      ...(remove.length > 0 && { remove: new Set(remove) }),
    });
    await table.transact([{ ...noted, if: absent }, ...also]);
    await step(org, noted.put as unknown as MembersTask);
  }
  await wake(org);
};

export const create = async (caller: Caller, body: Body, wanted: Wanted): Promise<Answer> => {
  const { org, directory, url } = caller;
  const { group, members = [] } = read(body);
  const add = [...new Set(members.map(idOf))];
  const known = await requireAll(caller, add);
  if ((await byName(org, directory.id, group.displayName)) !== undefined) throw new Refusal("groupNameTaken");
  const reserved = await reserveOne(org, "GROUP");
  const { member, also } = additionOf(org, directory.id, reserved, group);
  await changeGroup(caller, reserved.id, { add: add as number[], remove: [], known }, [
    ...groups.writes(org, [member]),
    ...also,
  ]);
  const row = { ...group, id: reserved.id, createdAt: reserved.createdAt, modifiedAt: reserved.createdAt };
  return {
    status: 201,
    body: await shown(caller, row as Group, wanted),
    location: `${url}/Groups/${reserved.id}`,
  };
};

export const get = async (caller: Caller, id: string, wanted: Wanted): Promise<Answer> => ({
  status: 200,
  body: await shown(caller, await existing(caller, id), wanted),
});

/** Makes a group as `to` says, and its members. What stays as it is is not written. */
const change = async (caller: Caller, row: Group, to: StoredGroup, members: Change): Promise<void> => {
  const { org } = caller;
  const isSame = row.displayName === to.displayName && row.externalId === to.externalId;
  if (isSame && members.add.length + members.remove.length === 0) return;
  const writes = isSame ? undefined : changeOf(org, row, to);
  await changeGroup(
    caller,
    row.id,
    members,
    writes === undefined ? [] : [...groups.writes(org, [writes.member]), ...writes.also],
  );
};

export const replace = (caller: Caller, id: string, body: Body, wanted: Wanted): Promise<Answer> =>
  withOptimisticRetry(async () => {
    const row = await settled(caller, id);
    const { group, members = [] } = read(body);
    const next = [...new Set(members.map(idOf))];
    const known = await requireAll(caller, next);
    const before = await membersOf(caller.org, row.id);
    await change(caller, row, group, { ...differenceOf(before, next as number[]), known });
    return get(caller, id, wanted);
  });

const differenceOf = (before: readonly number[], after: readonly number[]): Omit<Change, "known"> => {
  const [old, next] = [new Set(before), new Set(after)];
  return {
    add: after.filter((id) => !old.has(id)),
    remove: before.filter((id) => !next.has(id)),
  };
};

/** RFC 7644, 3.5.2, for the attributes of groups. */
export const patch = (caller: Caller, id: string, body: Body): Promise<Answer> =>
  withOptimisticRetry(async () => {
    const operations = readOperations(body);
    const row = await settled(caller, id);
    const { displayName, externalId } = row;
    const to: Record<string, unknown> = { displayName, externalId };
    const wished = new Map<number, boolean>();
    let replaced: Set<number> | undefined;
    const known = new Map<number, Person>();
    for (const operation of operations) {
      const { op, path, value } = operation;
      if (path.schema !== undefined) continue;
      if (op === "remove" && path.attribute === "displayName") throw required("displayName");
      if (path.attribute === "displayName" || path.attribute === "externalId")
        to[path.attribute] = op === "remove" ? undefined : value;
      if (path.attribute !== "members") continue;
      const ids = await membersIn(caller, operation, known);
      if (op === "replace" || ids === "all") {
        replaced = new Set(ids === "all" ? [] : ids);
        wished.clear();
      } else
        for (const member of ids) {
          replaced?.delete(member);
          if (op === "add") replaced?.add(member);
          wished.set(member, op === "add");
        }
    }
    const { group } = read(to);
    const difference =
      replaced === undefined
        ? await changesOf(caller, row.id, wished, known)
        : differenceOf(await membersOf(caller.org, row.id), [...replaced]);
    await change(caller, row, group, { ...difference, known });
    return { status: 204 };
  });

/** Of these wishes, those that people are not as yet. */
const changesOf = async (
  { org }: Caller,
  group: number,
  wished: ReadonlyMap<number, boolean>,
  known: Map<number, Person>,
): Promise<Omit<Change, "known">> => {
  const ids = [...wished.keys()];
  for (const person of await people.getMany(
    org,
    ids.filter((id) => !known.has(id)),
  ))
    if (person !== undefined) known.set(person.id, person);
  const isMember = (id: number): boolean => known.get(id)?.groups?.has(group) === true;
  return {
    add: ids.filter((id) => wished.get(id) === true && !isMember(id)),
    remove: ids.filter((id) => wished.get(id) === false && isMember(id)),
  };
};

/** The people whom an operation on members names; "all": a removal without any. Adds those it reads to `known`. */
const membersIn = async (
  caller: Caller,
  { op, path, value }: Operation,
  known: Map<number, Person>,
): Promise<number[] | "all"> => {
  if (path.filter !== undefined) {
    if (op !== "remove") throw invalid("invalidPath", "path: a filter of members is for remove alone");
    return idsIn(path.filter);
  }
  if (op === "remove" && (value === undefined || value === null)) return "all";
  const list = valid(memberList, Array.isArray(value) ? value : value === null ? [] : [value]);
  if (list.data === undefined) throw invalid("invalidValue", `members: ${list.problem.message}`);
  const ids = list.data.map((member) => idOf(member.value));
  // Who is no member any more need not be a user any more.
  if (op === "remove") return ids.filter((id) => id !== undefined);
  for (const [id, person] of await requireAll(caller, ids)) known.set(id, person);
  return ids as number[];
};

/** `members[value eq "12"]`, also several joined by `or`. */
const idsIn = (filter: string): number[] =>
  filter.split(/\s+or\s+/i).map((part) => {
    const [, id = ""] = /^\s*value\s+eq\s+"?([^"\s]*)"?\s*$/i.exec(part) ?? [];
    if (id === "") throw invalid("invalidFilter", 'path: only members[value eq "…"] is supported');
    return idOf(id) ?? 0;
  });

export const remove = (caller: Caller, id: string): Promise<Answer> =>
  withOptimisticRetry(async () => {
    const row = await existing(caller, id);
    const { org } = caller;
    const { member, also } = removalOf(org, row);
    await table.transact([...groups.writes(org, [member]), ...also]);
    await wake(org);
    return { status: 204 };
  });

export const find = async (
  caller: Caller,
  { filter, startIndex, count }: Query,
  wanted: Wanted,
): Promise<{ total: number; resources: AsyncIterable<Body> }> => {
  const { org, directory } = caller;
  const offset = startIndex - 1;
  const isOf = (group: { directoryId: number }): boolean => group.directoryId === directory.id;
  if (filter.length === 0) {
    const { items, total } = await groups.page(org, { limit: count, offset, matches: isOf });
    return { total, resources: shownEach(caller, items, wanted) };
  }
  const candidates = await candidatesOf(caller, filter);
  const rows = (await groups.getMany(org, candidates)).filter((row) => row !== undefined) as Group[];
  const ofMembers = await membershipOf(caller, filter);
  const matching = rows
    .filter((row) => directoryOf(row) === directory.id)
    .filter((row) => filter.every((comparison) => matches(row, comparison, ofMembers)))
    .toSorted((one, other) => other.id - one.id);
  const page = matching.slice(offset, offset + count);
  return { total: matching.length, resources: shownEach(caller, page, wanted) };
};

/** One after another, so that members are not read of groups for which the reply has no room. */
async function* shownEach(caller: Caller, rows: readonly Group[], wanted: Wanted): AsyncGenerator<Body> {
  for (const row of rows) yield await shown(caller, row, wanted);
}

/** The groups of the members that a filter names. */
const membershipOf = async (
  { org }: Caller,
  filter: readonly Comparison[],
): Promise<ReadonlyMap<string, ReadonlySet<number>>> => {
  const named = filter
    .filter(({ attribute }) => attribute.startsWith("members"))
    .map(({ value }) => String(value));
  const persons = await people.getMany(
    org,
    named.map((value) => idOf(value) ?? 0),
  );
  return new Map(named.map((value, index) => [value, persons[index]?.groups ?? new Set<number>()]));
};

const candidatesOf = async (caller: Caller, filter: readonly Comparison[]): Promise<number[]> => {
  const { org, directory } = caller;
  const textOf = (attribute: string): string | undefined => {
    const found = filter.find((each) => each.op === "eq" && each.attribute.startsWith(attribute));
    return found === undefined ? undefined : String(found.value);
  };
  const id = textOf("id");
  if (id !== undefined) return [idOf(id) ?? []].flat();
  const name = textOf("displayName");
  if (name !== undefined) return [(await byName(org, directory.id, name)) ?? []].flat();
  const externalId = textOf("externalId");
  if (externalId !== undefined) return byExternalId(org, directory.id, "GROUP", externalId);
  const member = textOf("members");
  if (member !== undefined) return [...((await membershipOf(caller, filter)).get(member) ?? [])];
  const all: number[] = [];
  const blocks = groups.blocks(await groups.tally(org), ({ directoryId }) => directoryId === directory.id);
  for await (const members of groups.membersOf(org, blocks)) all.push(...members.map((group) => group.id));
  return all;
};

const matches = (
  row: Group,
  { attribute, op, value }: Comparison,
  ofMembers: ReadonlyMap<string, ReadonlySet<number>>,
): boolean => {
  const wanted = String(value);
  if (attribute === "id") return String(row.id) === wanted;
  if (attribute === "externalId") return row.externalId === wanted;
  if (attribute.startsWith("members")) return ofMembers.get(wanted)?.has(row.id) === true;
  const [name, text] = [comparable(row.displayName), comparable(wanted)];
  return op === "eq" ? name === text : op === "sw" ? name.startsWith(text) : name.includes(text);
};
