import { administrator } from "../../../shared/access/activity/actor.ts";
import { teamName } from "../../../shared/access/organizations/organization-schema.ts";
import * as teams from "../../../shared/monitoring/teams/team.ts";
import type { Commands } from "../command.ts";
import { findOrganization, parse } from "../flags.ts";

export const teamCommands: Commands = {
  "team create": {
    about: "Creates a team.",
    flags: { org: "required ID", name: "required NAME" },
    isAct: true,
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      const name = parse("name", teamName, flags.name);
      return teams.create(org, name, administrator);
    },
  },
  "team list": {
    about: "Lists the teams, newest first.",
    flags: { org: "required ID" },
    run: async (flags) => {
      const { id: org } = await findOrganization(flags);
      return { teams: (await teams.list(org)).map(shown).reverse() };
    },
  },
};

const shown = ({ id, name, createdAt }: teams.Team) => ({ id, name, createdAt });
