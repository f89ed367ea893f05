import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { absent, condition, exists, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { drawId } from "../../lists/blocks.ts";

export type Team = { id: number; name: string; createdAt: string };

/** Names that differ in case or in their Unicode form only are one name: in this form they are equal. */
export const comparable = (name: string): string => name.normalize("NFKC").toLowerCase();

const isSameName = (one: string, other: string): boolean => comparable(one) === comparable(other);

const nameKey = (org: number, name: string) => keys.teamName(org, comparable(name));

/** Refuses `teamExists` before anything is written. `claim` decides between requests at the same time. */
const requireFree = async (org: number, name: string): Promise<void> => {
  if ((await table.get(nameKey(org, name))) !== undefined) throw new Refusal("teamExists");
};

const claim = (org: number, { id, name }: Pick<Team, "id" | "name">): Write => ({
  put: { ...nameKey(org, name), id },
  if: absent,
  refusal: "teamExists",
});

const insertion = (org: number, team: Team): Write => ({
  put: { ...keys.team(org, team.id), ...team },
  if: absent,
});

/** For the transaction that deletes or renames the team. */
export const releaseName = (org: number, { name }: Pick<Team, "name">): Write => ({
  delete: nameKey(org, name),
});

/** `also`: further writes of the transaction. Refuses `teamExists`. */
export const create = async (
  org: number,
  name: string,
  actor: Actor,
  also: readonly Write[] = [],
): Promise<Team> => {
  await requireFree(org, name);
  const [id, slot] = await Promise.all([drawId("TEAM"), activity.slot(org)]);
  const team = { id, name, createdAt: slot.createdAt };
  await table.transact([
    claim(org, team),
    insertion(org, team),
    ...activity.writes(org, slot, { action: "team.created", summary: `Created the team ${name}`, actor }),
    ...also,
  ]);
  return team;
};

/** A name that the team has already succeeds and is not logged. Refuses `teamNotFound` and `teamExists`. */
export const rename = (org: number, id: number, name: string, actor: Actor): Promise<void> =>
  withOptimisticRetry(async () => {
    const team = await get(org, id);
    if (team === undefined) throw new Refusal("teamNotFound");
    if (team.name === name) return;
    const isSame = isSameName(team.name, name);
    if (!isSame) await requireFree(org, name);
    const slot = await activity.slot(org);
    await table.transact([
      {
        update: keys.team(org, id),
        set: { name },
        if: condition("#name = :before", { before: team.name }),
      },
      ...(isSame ? [] : [releaseName(org, team), claim(org, { id, name })]),
      ...activity.writes(org, slot, {
        action: "team.updated",
        summary: `Renamed the team ${team.name} to ${name}`,
        actor,
      }),
    ]);
  });

export const get = (org: number, id: number): Promise<Team | undefined> => table.get(keys.team(org, id));

/** The check, for a transaction that puts an e-mail into the team. Without it a team that is being deleted would get members. */
export const mustExist = (org: number, id: number): Write => ({
  check: keys.team(org, id),
  if: exists,
  refusal: "teamNotFound",
});

export const list = (org: number): Promise<Team[]> => table.query({ pk: keys.team(org, 0).pk });

/** A team that e-mails come into. `writes`: the check that it is there still, or what creates it if `isNew`. */
export type Destination = { id: number; isNew: boolean; writes: Write[] };

/**
 * Teams of these names by `comparable`, those that are missing as they would be created. When another request creates or deletes one of
 * them first, a transaction with its writes throws `TransactionRefused`.
 */
export const forNames = async (org: number, names: readonly string[]): Promise<Map<string, Destination>> => {
  const written = new Map(names.toReversed().map((name) => [comparable(name), name]));
  const all = [...written.values()];
  const rows = await table.getMany<{ id: number }>(all.map((name) => nameKey(org, name)));
  const found = all.map(async (name, index): Promise<[string, Destination]> => {
    const known = rows[index];
    if (known !== undefined) {
      const check: Write = { check: keys.team(org, known.id), if: exists };
      return [comparable(name), { id: known.id, isNew: false, writes: [check] }];
    }
    const team = { id: await drawId("TEAM"), name, createdAt: new Date().toISOString() };
    const { refusal: _, ...claimed } = claim(org, team);
    return [comparable(name), { id: team.id, isNew: true, writes: [claimed, insertion(org, team)] }];
  });
  return new Map(await Promise.all(found));
};
