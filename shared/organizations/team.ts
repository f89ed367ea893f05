import * as activity from "../activity/activity.ts";
import { drawId } from "../table/blocks.ts";
import { absent, exists } from "../table/condition.ts";
import { keys } from "../table/keys.ts";
import * as table from "../table/table.ts";
import type { Actor } from "./actor.ts";

export type Team = { id: number; name: string; createdAt: string };

export const create = async (org: number, name: string, actor: Actor): Promise<Team> => {
  const [id, slot] = await Promise.all([drawId("TEAM"), activity.slot(org)]);
  const team = { id, name, createdAt: slot.createdAt };
  await table.transact([
    { check: keys.organization(org), if: exists },
    { put: { ...keys.team(org, id), ...team }, if: absent },
    ...activity.writes(org, slot, { action: "team.created", summary: `Created the team ${name}`, actor }),
  ]);
  return team;
};

export const get = (org: number, id: number): Promise<Team | undefined> => table.get(keys.team(org, id));

export const list = (org: number): Promise<Team[]> => table.query({ pk: keys.team(org, 0).pk });
