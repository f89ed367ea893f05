import * as users from "../../access/members/user.ts";
import { absent, asRead, exists, type Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import * as teams from "../../monitoring/teams/team.ts";
import type { Inspection, Problem } from "./inspector.ts";

/** Things whose names are unique. A row for each name holds the id of the thing that has it. */
export type UniqueNames = {
  /** Undefined when there is no such thing. */
  nameOf: (id: number) => Promise<string | undefined>;
  /** A write for a transaction, which fails if there is no such thing. */
  requireExistence: (id: number) => Write;
  nameRow: (name: string) => Key;
  /** What a person can do when two things have one name. */
  advice: (one: number, other: number) => string;
};

export const domainNames = (org: number): UniqueNames => ({
  nameOf: async (id) => (await domains.get(org, id))?.name,
  requireExistence: (id) => ({ check: keys.domain(org, id), if: exists }),
  nameRow: (name) => keys.domainName(org, name),
  advice: (one, other) =>
    `Domains ${one} and ${other} have one name: use one of them, and remove the e-mails of the other.`,
});

export const teamNames = (org: number): UniqueNames => ({
  nameOf: async (id) => {
    const team = await teams.get(org, id);
    return team && teams.comparable(team.name);
  },
  requireExistence: (id) => ({ check: keys.team(org, id), if: exists }),
  nameRow: (name) => keys.teamName(org, name),
  advice: (one, other) => `Teams ${one} and ${other} have one name: rename or delete one of them.`,
});

/** The addresses of users who are not removed. */
export const userAddresses = (org: number): UniqueNames => ({
  nameOf: async (id) => {
    const user = await users.get(org, id);
    return user === undefined || user.removed ? undefined : user.email;
  },
  requireExistence: (id) => ({ check: keys.user(org, id), if: users.notRemoved }),
  nameRow: (email) => keys.userEmail(org, email),
  advice: (one, other) => `Users ${one} and ${other} have one address: remove one of them.`,
});

/** The row of a thing's name must hold the id of this thing. */
export const inspectNamed =
  ({ nameOf, requireExistence, nameRow, advice }: UniqueNames) =>
  (id: number): Inspection<Problem> =>
  async () => {
    const name = await nameOf(id);
    if (name === undefined) return undefined;
    const key = nameRow(name);
    const named = await table.get<{ id: number }>(key);
    if (named?.id === id) return undefined;
    if (named === undefined) {
      return {
        says: "its name row is not there",
        repair: () => table.transact([requireExistence(id), { put: { ...key, id }, if: absent }]),
      };
    }
    const says = `its name row names ${named.id}`;
    if ((await nameOf(named.id)) === name) return { says, advice: advice(named.id, id) };
    return {
      says,
      repair: () =>
        table.transact([requireExistence(id), { update: key, set: { id }, if: asRead({ id: named.id }) }]),
    };
  };

/** The thing that a name row points to must exist and have this name. */
export const inspectNameRow =
  ({ nameOf, nameRow }: UniqueNames, name: string): Inspection<Problem> =>
  async () => {
    const key = nameRow(name);
    const named = await table.get<{ id: number }>(key);
    if (named === undefined) return undefined;
    const actualName = await nameOf(named.id);
    if (actualName === name) return undefined;
    return {
      says: `a name row names ${named.id}, which ${actualName === undefined ? "is not there" : "has another name"}`,
      repair: () => table.remove(key, asRead({ id: named.id })),
    };
  };
