/** Tasks about many addresses or people. Each step does a part, and notes in the task's row how far it is. */
import { alive } from "../../aws/queue/job.ts";
import { chunk } from "../../aws/table/chunk.ts";
import { asRead, rowOf, type Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { emails } from "../../monitoring/emails/record.ts";
import * as directories from "../directory.ts";
import { directoryOf as directoryOfGroup, removalOf as groupRemovalOf, groups, membersOf } from "../group.ts";
import { addressesOf, directoryOf, type Person, people, removalOf } from "../person.ts";
import { reconcile } from "./reconcile.ts";
import { addressTask, done, type MembersTask, subjectOf, type Task } from "./task.ts";

/** `cursor`: how far the task is. */
type Walk = Task & { cursor?: string };

const atOnce = 50;

/** People of one transaction: each may have 21 addresses that have to be looked at, and it takes 100 writes. */
export const peopleAtOnce = 3;

/** Does a part of the task, or ends it. */
export const step = async (org: number, task: Task): Promise<void> => {
  const { kind, about } = subjectOf(task);
  switch (kind) {
    case "DOMAIN":
      return ofDomain(org, task, about);
    case "USERS":
      return ofUsers(org, task, Number(about));
    case "GROUP":
      return ofGroup(org, task, Number(about));
    case "MEMBERS":
      return ofMembers(org, task, Number(about));
    case "LEAVER":
      return ofLeaver(org, task, Number(about));
    case "FORGET":
      return forget(org, task, Number(about));
    default:
      throw new Error(`A task of kind ${kind} has no steps`);
  }
};

/** Notes how far a task is. Another worker, or a new reason to do it, may have been quicker. */
const goOn = async ({ pk, sk, mark, cursor: before }: Walk, cursor: string): Promise<void> => {
  await table.attempt(
    table.update({ pk, sk }, { set: { cursor, ...alive() }, if: asRead({ mark, cursor: before }) }),
  );
};

const end = async (task: Task): Promise<void> => {
  await table.attempt(table.transact([done(task)]));
};

/** Addresses of a domain that was verified, or is not any more. */
const ofDomain = async (org: number, task: Walk, domain: string): Promise<void> => {
  const { pk, sk: first } = keys.namedAddress(org, domain, "");
  const rows = await table.query<Key>({
    pk,
    // The first that is behind the cursor.
    from: task.cursor === undefined ? first : `${task.cursor}\u0000`,
    to: `${first}\uffff`,
    limit: atOnce,
  });
  await reconcile(
    org,
    rows.map(({ sk }) => sk.slice(first.length).replace(/#\d{16}#\d{16}$/, "")),
  );
  const last = rows.at(-1);
  if (last === undefined) await end(task);
  else await goOn(task, last.sk);
};

/** People of a directory whose teams come from somewhere else now. */
const ofUsers = async (org: number, task: Walk, directory: number): Promise<void> => {
  const { items, next } = await people.following(org, Number(task.cursor ?? 0), {
    limit: atOnce,
    attributes: ["user"],
  });
  const own = items.filter(({ group }) => people.groupOf({ group }).directoryId === directory);
  await reconcile(
    org,
    own.flatMap(({ user }) => addressesOf(user)),
  );
  const last = items.at(-1);
  if (last === undefined && next === undefined) await end(task);
  else await goOn(task, String(last?.id ?? task.cursor ?? 0));
};

/** Members of a group that was renamed or deleted. */
const ofGroup = async (org: number, task: Walk, group: number): Promise<void> => {
  const [row, ids, makesTeams] = await Promise.all([
    groups.get(org, group),
    membersOf(org, group, { after: Number(task.cursor ?? 0), limit: atOnce }),
    groupsMakeTeams(org),
  ]);
  if (row === undefined)
    for (const some of chunk(ids, peopleAtOnce))
      await withOptimisticRetry(async () =>
        changeMembers(org, group, some, "remove", { byGroup: await groupsMakeTeams(org) }),
      );
  // Where no teams are made of groups, a new name changes nothing. Once they are, task USERS looks at everybody.
  else if (!makesTeams) return end(task);
  else {
    const persons = await people.getMany(org, ids);
    await reconcile(
      org,
      persons.flatMap((person) => (person === undefined ? [] : addressesOf(person.user))),
    );
  }
  const last = ids.at(-1);
  if (last === undefined) await end(task);
  else await goOn(task, String(last));
};

/** Whether a directory makes teams of groups. */
const groupsMakeTeams = async (org: number): Promise<boolean> =>
  (await directories.rows(org)).some(({ teamFrom }) => teamFrom === "group");

/**
 * Adds people to a group, or removes them from it, in one transaction. Those who are members, or none, already
 * stay as they are. `byGroup`: their teams follow. `known`: people who were read already. `also`: further writes
 * of the transaction. Throws `TransactionRefused` if a person has changed meanwhile.
 */
export const changeMembers = async (
  org: number,
  group: number,
  ids: readonly number[],
  how: "add" | "remove",
  {
    byGroup,
    known,
    also = [],
  }: { byGroup: boolean; known?: ReadonlyMap<number, Person>; also?: readonly Write[] },
): Promise<void> => {
  const unknown = ids.filter((id) => known?.has(id) !== true);
  const read = await people.getMany(org, unknown);
  const persons = ids.map((id) => known?.get(id) ?? read[unknown.indexOf(id)]);
  const writes = persons.map((person, index): Write[] => {
    const key = keys.groupMember(org, group, ids[index] as number);
    if (person === undefined) return how === "remove" ? [{ delete: key }] : [];
    const { id, user, groups: before = new Set<number>() } = person;
    if (before.has(group) === (how === "add")) return [];
    const after = new Set([...before, group]);
    if (how === "remove") after.delete(group);
    const from = people.groupOf(person);
    const member = people.change(org, id, {
      from,
      ...(after.size > 0 ? { set: { groups: after } } : { remove: ["groups"] }),
      if: asRead({ user, groups: person.groups }),
    });
    return [
      ...people.writes(org, [member]),
      how === "add" ? { put: key } : { delete: key },
      ...(byGroup ? addressesOf(user).map((email) => addressTask(org, email)) : []),
    ];
  });
  await table.transact([...new Map(writes.flat().map((write) => [rowOf(write), write])).values(), ...also]);
};

/** A request to change many members of a group. */
const ofMembers = async (org: number, task: MembersTask, group: number): Promise<void> => {
  const { pk, sk, mark, add = new Set<number>(), remove = new Set<number>() } = task;
  // Somebody has deleted it meanwhile: nobody becomes a member.
  if ((await groups.get(org, group)) === undefined) return end(task);
  const byGroup = await groupsMakeTeams(org);
  // Nothing is done for a request that another worker has ended, and that a later one may have reversed.
  const isHere: Write = { check: { pk, sk }, if: asRead({ mark }) };
  for (const [how, ids] of [
    ["remove", remove],
    ["add", add],
  ] as const)
    for (const some of chunk([...ids], peopleAtOnce)) {
      const isOver = await withOptimisticRetry(async () => {
        const now = await table.get<Task>({ pk, sk });
        if (now?.mark !== mark) return true;
        await changeMembers(org, group, some, how, { byGroup, also: [isHere] });
        return false;
      });
      if (isOver) return;
    }
  await end(task);
};

/** Memberships of a deleted person. */
const ofLeaver = async (
  org: number,
  task: Task & { groups?: Set<number> },
  person: number,
): Promise<void> => {
  for (const group of task.groups ?? []) await table.remove(keys.groupMember(org, group, person));
  await end(task);
};

/** Forgets the people and groups of a directory that was disconnected. Their e-mails stay as they are. */
const forget = async (org: number, task: Walk, directory: number): Promise<void> => {
  const [phase, place] = (task.cursor ?? "people:0").split(":") as [string, string];
  if (phase === "people") {
    const { items, next } = await people.following(org, Number(place), {
      limit: atOnce,
      attributes: ["user", "groups", "modifiedAt", "pk", "sk", "createdAt"],
    });
    const own = items.filter((person) => directoryOf(person) === directory);
    await reconcile(
      org,
      own.flatMap(({ user }) => addressesOf(user)),
    );
    for (const person of own) await forgetPerson(org, person);
    const last = items.at(-1);
    const isOver = last === undefined && next === undefined;
    return goOn(task, isOver ? "groups:0" : `people:${last?.id ?? place}`);
  }
  if (phase === "groups") {
    const { items, next } = await groups.following(org, Number(place), {
      limit: atOnce,
      attributes: ["displayName", "externalId", "modifiedAt", "pk", "sk", "createdAt"],
    });
    for (const group of items.filter((each) => directoryOfGroup(each) === directory)) {
      const { member, also } = groupRemovalOf(org, group);
      await table.transact([...groups.writes(org, [member]), ...also]);
    }
    const last = items.at(-1);
    const isOver = last === undefined && next === undefined;
    return goOn(task, isOver ? "emails:0" : `groups:${last?.id ?? place}`);
  }
  // Addresses that only people had who were deleted before.
  const { items } = await emails.page(org, {
    limit: atOnce,
    offset: 0,
    attributes: ["email"],
    matches: ({ directoryId }) => directoryId === directory,
  });
  await reconcile(
    org,
    items.map(({ email }) => email),
  );
  if (items.length === 0) await end(task);
};

/** Deletes a person without a trace in their addresses, whose e-mails stay as they are. */
export const forgetPerson = async (org: number, person: Person): Promise<void> => {
  const { member, also } = removalOf(org, person);
  const withoutTrace = also.flatMap((write): Write[] => {
    if (!("put" in write)) return [write];
    const { pk, sk } = write.put;
    return pk === keys.directoryTask(org, "").pk ? [] : [{ delete: { pk, sk } }];
  });
  await table.transact([...people.writes(org, [member]), ...withoutTrace]);
};
