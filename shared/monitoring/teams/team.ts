import * as activity from "../../access/activity/activity.ts";
import type { Actor } from "../../access/activity/actor.ts";
import { chunk } from "../../aws/table/chunk.ts";
import { absent, asRead, condition, type Write } from "../../aws/table/condition.ts";
import { keys } from "../../aws/table/keys.ts";
import { withOptimisticRetry } from "../../aws/table/optimistic-retry.ts";
import * as table from "../../aws/table/table.ts";
import { Refusal } from "../../contract/errors.ts";
import { pageOf } from "../../contract/page.ts";
import { drawId } from "../../lists/blocks.ts";
import { emails } from "../emails/record.ts";

export type Team = {
  id: number;
  name: string;
  createdAt: string;
  /** It was deleted, and its name with it. E-mails may still have its id, and are without a team. */
  removedAt?: string;
};

/** Names that differ in case or in their Unicode form only are one name: in this form they are equal. */
export const comparable = (name: string): string => name.normalize("NFKC").toLowerCase();

const nameKey = (org: number, name: string) => keys.teamName(org, comparable(name));

const claim = (org: number, { id, name }: Pick<Team, "id" | "name">): Write => ({
  put: { ...nameKey(org, name), id },
  if: absent,
});

const insertion = (org: number, team: Team): Write => ({
  put: { ...keys.team(org, team.id), ...team },
  if: absent,
});

/** For the transaction that deletes or renames the team. */
const releaseName = (org: number, { name }: Pick<Team, "name">): Write => ({
  delete: nameKey(org, name),
});

/** Refuses `teamExists`. */
export const create = async (org: number, name: string, actor: Actor): Promise<Team> => {
  const [id, slot] = await Promise.all([drawId("TEAM"), activity.slot(org)]);
  const team = { id, name, createdAt: slot.createdAt };
  await table.transact([
    { ...claim(org, team), refusal: "teamExists" },
    insertion(org, team),
    ...activity.writes(org, slot, { action: "team.created", summary: createdSummary([team]), actor }),
  ]);
  return team;
};

/** To give a team the name that it has succeeds and is not logged. Refuses `teamNotFound` and `teamExists`. */
export const rename = (org: number, id: number, name: string, actor: Actor): Promise<void> =>
  withOptimisticRetry(async () => {
    const team = await get(org, id);
    if (team === undefined) throw new Refusal("teamNotFound");
    if (team.name === name) return;
    const isSame = comparable(team.name) === comparable(name);
    const slot = await activity.slot(org);
    await table.transact([
      {
        update: keys.team(org, id),
        set: { name },
        if: asRead({ name: team.name, removedAt: undefined }),
      },
      ...(isSame
        ? []
        : [releaseName(org, team), { ...claim(org, { id, name }), refusal: "teamExists" as const }]),
      ...activity.writes(org, slot, {
        action: "team.updated",
        summary: `Renamed the team ${team.name} to ${name}`,
        actor,
      }),
    ]);
  });

/**
 * Deletes a team, which leaves its e-mails without a team. Deleting it again succeeds and is not logged.
 * Refuses `teamNotFound`.
 */
export const remove = (org: number, id: number, actor: Actor): Promise<void> =>
  withOptimisticRetry(async () => {
    const team = await table.get<Team>(keys.team(org, id));
    if (team === undefined) throw new Refusal("teamNotFound");
    if (team.removedAt !== undefined) return;
    const slot = await activity.slot(org);
    await table.transact([
      {
        update: keys.team(org, id),
        set: { removedAt: slot.createdAt },
        remove: ["name"],
        if: asRead({ name: team.name, removedAt: undefined }),
      },
      releaseName(org, team),
      ...activity.writes(org, slot, {
        action: "team.deleted",
        summary: `Deleted the team ${team.name}`,
        actor,
      }),
    ]);
  });

export const isRemoved = ({ removedAt }: Team): boolean => removedAt !== undefined;

export const get = async (org: number, id: number): Promise<Team | undefined> => {
  const team = await table.get<Team>(keys.team(org, id));
  return team === undefined || isRemoved(team) ? undefined : team;
};

/** The check, for a transaction that puts an e-mail into the team. */
export const mustExist = (org: number, id: number): Write => ({
  ...isThere(org, id),
  refusal: "teamNotFound",
});

/** The same for callers who choose a team again when the check fails. */
export const isThere = (org: number, id: number): Write => ({
  check: keys.team(org, id),
  if: condition("attribute_exists(#pk) AND attribute_not_exists(#removedAt)"),
});

/** All teams, those that were deleted included. */
export const everyTeam = (org: number): Promise<Team[]> => table.query({ pk: keys.team(org, 0).pk });

export const list = async (org: number): Promise<Team[]> =>
  (await everyTeam(org)).filter((team) => !isRemoved(team));

export type ListedTeam = { id: number; name: string; emailCount: number; breachedEmailCount: number };

/** A page, newest first, with how many e-mails each team has, and with open findings; disabled ones count too. */
export const page = async (
  org: number,
  query: { limit: number; offset: number },
): Promise<{ teams: ListedTeam[]; total: number }> => {
  const [all, tally] = await Promise.all([list(org), emails.tally(org)]);
  const { items, total } = pageOf(all, query);
  const byTeam = Map.groupBy(emails.sums(tally), ({ group }) => group.teamId);
  const teams = items.map(({ id, name }): ListedTeam => {
    const ofTeam = { id, name, emailCount: 0, breachedEmailCount: 0 };
    for (const { group, count } of byTeam.get(id) ?? []) {
      ofTeam.emailCount += count;
      if (group.exposure > 0) ofTeam.breachedEmailCount += count;
    }
    return ofTeam;
  });
  return { teams, total };
};

/** How many teams one transaction creates, each with its name's claim. */
const createdAtOnce = 40;

/**
 * The ids of the teams of these names, by `comparable`. Creates those that are missing, in transactions of
 * their own, which make `also` too. Throws `TransactionRefused` when another request creates one of them
 * first.
 */
export const forNames = async (
  org: number,
  names: readonly string[],
  actor: Actor,
  also: readonly Write[] = [],
): Promise<Map<string, number>> => {
  const asked = [...Map.groupBy(names, comparable)].map(([form, [name = form]]) => ({ form, name }));
  const rows = await table.getMany<{ id: number }>(asked.map(({ form }) => keys.teamName(org, form)));
  const ids = new Map(
    asked.flatMap(({ form }, index): [string, number][] => {
      const row = rows[index];
      return row === undefined ? [] : [[form, row.id]];
    }),
  );
  const missing = asked.filter(({ form }) => !ids.has(form));
  for (const some of chunk(missing, createdAtOnce)) {
    const slot = await activity.slot(org);
    const created = await Promise.all(
      some.map(
        async ({ name }): Promise<Team> => ({ id: await drawId("TEAM"), name, createdAt: slot.createdAt }),
      ),
    );
    await table.transact([
      ...created.flatMap((team) => [claim(org, team), insertion(org, team)]),
      ...activity.writes(org, slot, { action: "team.created", summary: createdSummary(created), actor }),
      ...also,
    ]);
    for (const { name, id } of created) ids.set(comparable(name), id);
  }
  return ids;
};

/** How many names the log says at most. */
const maximumNames = 5;

const createdSummary = (teams: readonly Pick<Team, "name">[]): string => {
  const names = teams.slice(0, maximumNames).map(({ name }) => name);
  const more = teams.length - names.length;
  return (
    `Created the ${teams.length === 1 ? "team" : "teams"} ` +
    `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`
  );
};
