/** Rows that keep names and addresses unique. */
import { notRemoved } from "../../access/members/membership.ts";
import type { User } from "../../access/members/user.ts";
import { asRead, type Condition, exists, type Item, type Write } from "../../aws/table/condition.ts";
import { type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import type { ProvenDomain } from "../../monitoring/domains/proof-record.ts";
import * as teams from "../../monitoring/teams/team.ts";
import { compare } from "./derived-row.ts";
import type { Problem } from "./inspector.ts";

/** The names of domains and teams, whose domains are proved, and the addresses of users. */
export const compareAllNames = async (org: number): Promise<Problem[]> => {
  const listed = async (key: Key) => {
    const rows = await table.query<Key & { id: number }>({ pk: key.pk });
    return new Map(rows.map((row) => [row.sk, row]));
  };
  const single = async <Row>(names: string[], keyOf: (name: string) => Key) => {
    const rows = await table.getMany<Row>(names.map(keyOf));
    return new Map(names.map((name, at) => [name, rows[at]]));
  };
  const domainNames = await listed(keys.domainName(org, ""));
  const teamNames = await listed(keys.teamName(org, ""));
  const allDomains = await domains.list(org);
  const allTeams = await teams.list(org);
  const allUsers = await table.query<User>({ pk: keys.user(org, 0).pk });
  const signInKey = (email: string): Key => keys.signInAddress(email, org);
  const emailsOfUsers = allUsers.map(({ email }) => email);
  const signInRows = await single<{ organizationId: number; userId: number }>(emailsOfUsers, signInKey);
  const proofs = await single<ProvenDomain>(
    allDomains.map(({ name }) => name),
    keys.provenDomain,
  );

  const named = <T extends { id: number }>(
    all: readonly T[],
    keyOf: (org: number, id: number) => Key,
    nameOf: (one: T) => string,
    ifThere: (one: T) => Condition = () => exists,
  ) =>
    all.map((one) => {
      const isThere = { check: keyOf(org, one.id), if: ifThere(one) };
      return { id: one.id, name: nameOf(one), isThere };
    });
  const ofUsers = named(
    allUsers.filter(({ removed }) => !removed),
    keys.user,
    ({ email }) => email,
    () => notRemoved,
  );
  const proved = named(
    allDomains.filter(({ verifiedBy }) => verifiedBy === "record"),
    keys.domain,
    ({ name }) => name,
    ({ verifiedBy }) => asRead({ verifiedBy }),
  );
  const problems = [
    compareNames(org, "domain", {
      claims: named(allDomains, keys.domain, ({ name }) => name),
      rows: domainNames,
      keyOf: (name) => keys.domainName(org, name),
      attribute: "id",
    }),
    compareNames(org, "team", {
      claims: named(
        allTeams,
        keys.team,
        ({ name }) => teams.comparable(name),
        ({ name }) => asRead({ name }),
      ),
      rows: teamNames,
      keyOf: (name) => keys.teamName(org, name),
      attribute: "id",
    }),
    compareNames(org, "sign-in", {
      claims: ofUsers,
      rows: signInRows,
      keyOf: signInKey,
      attribute: "userId",
      isOfDeployment: true,
    }),
    compareNames(org, "domain proof", {
      claims: proved,
      rows: proofs,
      keyOf: keys.provenDomain,
      attribute: "domainId",
      isOfDeployment: true,
    }),
  ];
  return (await Promise.all(problems)).flat();
};

/** Things whose names are unique, and the rows of their names. */
type Names<Attribute extends string> = {
  /** The things that have a name. `isThere`: the condition that the thing still has it; `also`: what else the name's row holds. */
  claims: readonly { id: number; name: string; isThere: Write; also?: Item }[];
  /** By name; undefined: there is none. */
  rows: ReadonlyMap<string, (Record<Attribute, number> & { organizationId?: number }) | undefined>;
  keyOf: (name: string) => Key;
  /** Of a row: the id of the thing that has the name. */
  attribute: Attribute;
  /** Whether the rows are of the whole deployment, and name the organization too. */
  isOfDeployment?: boolean;
};

/** The row of a name must hold the id of the thing that has the name, and there must be none of a name that nothing has. */
export const compareNames = async <Attribute extends string>(
  org: number,
  kind: string,
  { claims, rows, keyOf, attribute, isOfDeployment = false }: Names<Attribute>,
): Promise<Problem[]> => {
  const byName = Map.groupBy(claims, ({ name }) => name);
  const isForeign = (name: string): boolean => (rows.get(name)?.organizationId ?? org) !== org;
  const problems: Problem[] = [];
  for (const [name, row] of rows) {
    if (row === undefined || byName.has(name) || isForeign(name)) continue;
    const subject = { kind: `${kind} name`, id: row[attribute] };
    const says = `a name row names ${subject.id}, which does not have the name`;
    problems.push(...(await compare(subject, { key: keyOf(name), row, holds: "no row", says })));
  }
  for (const { id, name, isThere, also } of claims) {
    const row = rows.get(name);
    const other = row?.[attribute];
    const isTaken = other !== id && byName.get(name)?.some((claim) => claim.id === other);
    if (isTaken || isForeign(name)) {
      const says = `the row of its name names ${other}`;
      const advice = `Only one of ${id} and ${other} can have the name: rename, remove or unverify the other.`;
      problems.push({ kind, id, topic: "name", says, advice });
      continue;
    }
    const holds = { ...also, [attribute]: id, ...(isOfDeployment && { organizationId: org }) };
    problems.push(...(await compare({ kind, id }, { key: keyOf(name), row, holds, given: [isThere] })));
  }
  return problems;
};
