/** Rows that keep names and addresses unique. */
import { signInKeys, type User } from "../../access/members/user.ts";
import { asRead, type Item } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import * as teams from "../../monitoring/teams/team.ts";
import { compare } from "./derived-row.ts";
import type { Problem } from "./inspector.ts";

/** The row of a name: which thing has the name; of the whole deployment, whose organization's thing. */
type NameRow = Key & { id?: number; userId?: number; domainId?: number; organizationId?: number };

/**
 * A thing with a name. It has the name row's key and content, and the row `of` the thing, which says the
 * name.
 */
type Claim = { id: number; key: Key; holds: Item; of: Key; says: Item };

/** The names of domains and teams, whose domains are proved, and the addresses and accounts of users. */
export const compareAllNames = async (org: number): Promise<Problem[]> => {
  const rowsOf = (key: Key) => table.query<NameRow>({ pk: key.pk });
  const rowsWith = async (all: Key[]) =>
    (await table.getMany<NameRow>(all)).filter((row) => row !== undefined);
  const [domainNames, teamNames] = [
    await rowsOf(keys.domainName(org, "")),
    await rowsOf(keys.teamName(org, "")),
  ];
  const allDomains = await domains.list(org);
  const allTeams = await teams.list(org);
  const users = await table.query<User>({ pk: keys.user(org, 0).pk });
  const signIns = await rowsWith(users.flatMap((user) => signInKeys(org, user)));
  const proofs = await rowsWith(allDomains.map(({ name }) => keys.provenDomain(name)));
  return [
    ...compareNames(
      org,
      "domain",
      domainNames,
      allDomains.map(({ id, name }) => ({
        id,
        key: keys.domainName(org, name),
        holds: { id },
        of: keys.domain(org, id),
        says: { name },
      })),
    ),
    ...compareNames(
      org,
      "team",
      teamNames,
      allTeams.map(({ id, name }) => ({
        id,
        key: keys.teamName(org, teams.comparable(name)),
        holds: { id },
        of: keys.team(org, id),
        says: { name },
      })),
    ),
    ...compareNames(
      org,
      "sign-in",
      signIns,
      users
        .filter(({ removed }) => !removed)
        .flatMap((user) =>
          signInKeys(org, user).map((key) => ({
            id: user.id,
            key,
            holds: { organizationId: org, userId: user.id },
            of: keys.user(org, user.id),
            says: { removed: false },
          })),
        ),
    ),
    ...compareNames(
      org,
      "domain proof",
      proofs,
      allDomains
        .filter(({ verifiedBy }) => verifiedBy === "record")
        .map(({ id, name, verifiedBy }) => ({
          id,
          key: keys.provenDomain(name),
          holds: { organizationId: org, domainId: id },
          of: keys.domain(org, id),
          says: { verifiedBy },
        })),
    ),
  ];
};

const nameOf = ({ pk, sk }: Key): string => `${pk} ${sk}`;

const holderOf = ({ id, userId, domainId }: NameRow): number => id ?? userId ?? domainId ?? 0;

/** The row of a name must hold the id of the thing with the name. A name of nothing must have no row. */
const compareNames = (
  org: number,
  kind: string,
  rows: readonly NameRow[],
  claims: readonly Claim[],
): Problem[] => {
  const byName = Map.groupBy(claims, ({ key }) => nameOf(key));
  const rowOf = new Map(rows.map((row) => [nameOf(row), row]));
  const isForeign = ({ organizationId = org }: Partial<NameRow> = {}): boolean => organizationId !== org;
  const unclaimed = rows.filter((row) => !byName.has(nameOf(row)) && !isForeign(row));
  return [
    ...unclaimed.flatMap((row) => {
      const { pk, sk } = row;
      const subject = { kind: `${kind} name`, id: holderOf(row) };
      const says = `a name row names ${subject.id}, which does not have the name`;
      return compare(subject, { key: { pk, sk }, row, holds: "no row", says });
    }),
    ...claims.flatMap(({ id, key, holds, of, says: itSays }) => {
      const row = rowOf.get(nameOf(key));
      const other = row && holderOf(row);
      const isTaken = other !== id && byName.get(nameOf(key))?.some((claim) => claim.id === other);
      if (!isTaken && !isForeign(row))
        return compare({ kind, id }, { key, row, holds, given: [{ check: of, if: asRead(itSays) }] });
      const says = `the row of its name names ${other}`;
      const advice = `Only one of ${id} and ${other} can have the name: rename, remove or unverify the other.`;
      return [{ kind, id, topic: "name", says, advice }];
    }),
  ];
};
