/** Compares the members of lists with themselves and with the rows that belong to them. */
import { type Delivery, deliveries } from "../../alerting/deliveries/delivery.ts";
import { absent, asRead, condition, exists } from "../../aws/table/condition.ts";
import { breachPartition, dueShard, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { type FindingRecord, findings } from "../../findings/record.ts";
import type { countedList, Member } from "../../lists/counted-list.ts";
import type { GroupFields } from "../../lists/group-key.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import { type Email, emails, openAttributes, openDifferences } from "../../monitoring/emails/record.ts";
import { ownerWordRows } from "../../monitoring/emails/search.ts";
import * as teams from "../../monitoring/teams/team.ts";
import { scans } from "../../scanning/record.ts";
import { compare, compareDue } from "./derived-row.ts";
import type { Problem } from "./inspector.ts";
import { compareNames } from "./names.ts";

/** Gives what is wrong with the members of a block. */
type MembersComparison<M> = (members: readonly M[]) => Promise<Problem[]>;

const forEach = async <M>(
  members: readonly M[],
  problemsOf: (member: M) => Promise<Problem[]>,
): Promise<Problem[]> => (await Promise.all(members.map(problemsOf))).flat();

const byId = <M extends { id: number }>(rows: readonly (M | undefined)[]): Map<number, M> =>
  new Map(rows.flatMap((row) => (row === undefined ? [] : [[row.id, row]])));

/** A member must be counted in the group that its row tells. `reads`: attributes that tell it. */
const compareGroup = <G extends GroupFields, T extends object>(
  list: ReturnType<typeof countedList<G, T>>,
  { org, kind }: { org: number; kind: string },
  row: Member<T>,
  to: G,
  reads: readonly (keyof T & string)[],
): Problem[] => {
  const should = list.groupKeyOf(to);
  if (should === row.group) return [];
  const unchanged = asRead(Object.fromEntries(reads.map((name) => [name, row[name]])));
  return [
    {
      kind,
      id: row.id,
      topic: "group",
      says: `it is counted under ${row.group}, should be under ${should}`,
      repair: () =>
        list.writes(org, [list.change(org, row.id, { from: list.groupOf(row), to, if: unchanged })]),
    },
  ];
};

export const findingsOf =
  (org: number): MembersComparison<FindingRecord> =>
  async (members) => {
    const scanIds = new Set(members.flatMap((row) => findings.groupOf(row).scanId ?? []));
    const ofScans = byId(await scans.getMany(org, [...scanIds]));
    const holders = byId(await emails.getMany(org, [...new Set(members.map(({ emailId }) => emailId))]));
    return forEach(members, async (row) => {
      const { id, breachId, emailId } = row;
      const group = findings.groupOf(row);
      const to = {
        ...group,
        scanId: ofScans.has(group.scanId ?? 0) ? group.scanId : null,
        acknowledged: row.acknowledgment !== undefined,
      };
      const holds = { breachPartition: breachPartition(org, breachId) };
      const holder = holders.get(emailId);
      return [
        ...compareGroup(findings, { org, kind: "finding" }, row, to, ["acknowledgment"]),
        ...(await compare({ kind: "finding", id }, { key: findings.key(org, id), row, holds })),
        ...(holder?.findings[breachId] === id ? [] : await compareHolder(org, row, holder)),
      ];
    });
  };

/** A finding that its e-mail does not hold must be held by the removal of its e-mail, which deletes it. */
const compareHolder = async (
  org: number,
  finding: FindingRecord,
  email: Email | undefined,
): Promise<Problem[]> => {
  const { id, breachId, emailId, lastSeenAt } = finding;
  const [removal, address, now] = await Promise.all([
    table.get<{ findings: number[] }>(keys.removal(org, emailId)),
    table.get<{ emailId: number }>(keys.address(org, finding.email)),
    findings.get(org, id),
  ]);
  if (now === undefined || removal?.findings.includes(id)) return [];
  const problem = { kind: "finding", id, topic: "holder" };
  const key = emails.key(org, emailId);
  const group = findings.groupOf(finding);
  const remove = findings.writes(org, [findings.delete(org, id, group)]);
  if (email === undefined) {
    const says = `its e-mail ${emailId} is not there`;
    const advice = `The row of e-mail ${emailId} is lost: restore it from a backup of the table.`;
    if (address?.emailId === emailId)
      return [{ ...problem, says: `${says}, but its address row is`, advice }];
    return [{ ...problem, says, repair: () => [{ check: key, if: absent }, ...remove] }];
  }
  const heldId = email.findings[breachId];
  if (heldId !== undefined) {
    const isHeld = { check: key, if: asRead({ [`findings.${breachId}`]: heldId }) };
    const others = [isHeld, { check: findings.key(org, heldId), if: exists }];
    const says = `e-mail ${emailId} has another finding of breach ${breachId}: ${heldId}`;
    return [{ ...problem, says, repair: () => [...others, ...remove] }];
  }
  const hold = {
    update: key,
    set: { [`findings.${breachId}`]: id },
    add: {
      ...openDifferences([{ to: group }]),
      gone: new Set(lastSeenAt === undefined ? [] : [breachId]),
    },
    if: condition(`attribute_not_exists(#findings.#${breachId})`),
  };
  const unchanged = { check: findings.key(org, id), if: asRead({ group: finding.group, lastSeenAt }) };
  return [{ ...problem, says: `e-mail ${emailId} does not hold it`, repair: () => [hold, unchanged] }];
};

export const emailsOf = async (org: number): Promise<MembersComparison<Email>> => {
  const domainIds = new Set((await domains.list(org)).map(({ id }) => id));
  const teamIds = new Set((await teams.everyTeam(org)).map(({ id }) => id));
  return async (members) => {
    const ids = members.flatMap((row) => Object.values(row.findings));
    const named = byId(await findings.getMany(org, ids));
    const summaries = await forEach(members, (row) =>
      compare(
        { kind: "e-mail", id: row.id },
        {
          key: emails.key(org, row.id),
          row,
          holds: summaryOf(row, named),
          reliesOn: ["findings", "unacknowledged", ...openAttributes, "gone", "lastFoundAt", "group"],
        },
      ),
    );
    const owners = await forEach(members, async (row) => {
      const { domainId, teamId } = emails.groupOf(row);
      const isOwned = domainIds.has(domainId) && (teamId === null || teamIds.has(teamId));
      return isOwned ? [] : compareOwners(org, row);
    });
    const found = await Promise.all([compareAddresses(org, members), compareOwnerWords(org, members)]);
    return [...summaries, ...owners, ...found.flat()];
  };
};

const later = (one: string | undefined, other: string): string =>
  one === undefined || other > one ? other : one;

const noneOpen = Object.fromEntries(["unacknowledged", ...openAttributes].map((name) => [name, 0]));

/** What an e-mail's row must say about the findings that it names: those that are there, how many are open by severity, and which disappeared upstream. */
const summaryOf = (row: Email, byId: ReadonlyMap<number, FindingRecord>) => {
  const named = Object.entries(row.findings).map(([breach, id]) => ({ breach, finding: byId.get(id) }));
  const isOwn = ({ breach, finding }: (typeof named)[number]): boolean =>
    finding?.emailId === row.id && finding.breachId === Number(breach);
  const own = named.filter(isOwn).flatMap(({ finding }) => finding ?? []);
  const gone = own.filter(({ lastSeenAt }) => lastSeenAt !== undefined).map(({ breachId }) => breachId);
  const foreign = named.filter((each) => !isOwn(each));
  return {
    ...Object.fromEntries(foreign.map(({ breach }) => [`findings.${breach}`, undefined])),
    ...noneOpen,
    ...openDifferences(own.map((each) => ({ to: findings.groupOf(each) }))),
    gone: gone.length > 0 ? new Set(gone) : undefined,
    lastFoundAt: own.map(({ firstDetectedAt }) => firstDetectedAt).reduce(later, undefined),
  };
};

/** The row that makes an address unique must name the e-mail of this address. */
const compareAddresses = async (org: number, members: readonly Email[]): Promise<Problem[]> => {
  const rows = await table.getMany<{ emailId: number }>(members.map((row) => keys.address(org, row.email)));
  const elsewhere = rows.flatMap((row, at) => (row && row.emailId !== members[at]?.id ? row.emailId : []));
  const all = [...members, ...byId(await emails.getMany(org, elsewhere)).values()];
  return compareNames(org, "e-mail", {
    claims: all.map((row) => ({
      id: row.id,
      name: row.email,
      isThere: { check: emails.key(org, row.id), if: exists },
      also: { domainId: emails.groupOf(row).domainId },
    })),
    rows: new Map(members.map(({ email }, at) => [email, rows[at]])),
    keyOf: (email) => keys.address(org, email),
    attribute: "emailId",
  });
};

/** The words of an owner's name must lead to the e-mail. */
const compareOwnerWords = async (org: number, members: readonly Email[]): Promise<Problem[]> => {
  const named = members.filter(({ ownerName }) => ownerName !== null);
  const expected = named.flatMap((row) =>
    ownerWordRows(org, { ...row, domainId: emails.groupOf(row).domainId }).map((word) => ({ row, word })),
  );
  const rows = await table.getMany(expected.map(({ word }) => word));
  const problems = expected.map(({ row, word: { pk, sk, ...holds } }, at) => {
    const given = [{ check: emails.key(org, row.id), if: asRead({ ownerName: row.ownerName }) }];
    return compare({ kind: "e-mail", id: row.id }, { key: { pk, sk }, row: rows[at], holds, given });
  });
  return (await Promise.all(problems)).flat();
};

/** An e-mail's domain must exist, and its team if it has one. */
const compareOwners = async (org: number, row: Email): Promise<Problem[]> => {
  const { domainId, teamId } = emails.groupOf(row);
  const [domain, team, now] = await Promise.all([
    domains.get(org, domainId),
    teamId === null ? undefined : table.get(keys.team(org, teamId)),
    emails.get(org, row.id),
  ]);
  const isTeamLost = teamId !== null && team === undefined;
  if (now === undefined || (domain !== undefined && !isTeamLost)) return [];
  const says =
    domain === undefined ? `its domain ${domainId} is not there` : `its team ${teamId} is not there`;
  const advice = "Restore the missing row from a backup of the table, or remove the e-mail.";
  return [{ kind: "e-mail", id: row.id, topic: "owners", says, advice }];
};

/** Whether a scan is in progress. */
export const isOpen = (row: { group: string }): boolean =>
  ["pending", "running"].includes(scans.groupOf(row).status);

/** A delivery must be in the due index exactly while it is open. */
export const deliveriesOf =
  (org: number): MembersComparison<Delivery> =>
  (members) =>
    forEach(members, (row) => {
      const { id, status } = row;
      const shard = ["pending", "retrying"].includes(status) ? dueShard("DELIVERY", id) : undefined;
      const key = deliveries.key(org, id);
      return compareDue({ kind: "delivery", id }, { key, row, shard, reliesOn: ["status"] });
    });
