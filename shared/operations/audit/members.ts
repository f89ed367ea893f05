/** Compares the members of lists with themselves and with the rows that belong to them. */
import { type Delivery, deliveries } from "../../alerting/deliveries/delivery.ts";
import { absent, asRead, condition, exists, type Item } from "../../aws/table/condition.ts";
import { breachPartition, dueShard, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { endedByOf, type FindingRecord, findings } from "../../findings/record.ts";
import * as domains from "../../monitoring/domains/domain.ts";
import {
  changeFindings,
  type Email,
  emails,
  exposureOf,
  openAsRead,
  openAttributes,
  openDifferences,
} from "../../monitoring/emails/record.ts";
import { ownerWordRows } from "../../monitoring/emails/search.ts";
import * as teams from "../../monitoring/teams/team.ts";
import { compare, compareDue } from "./derived-row.ts";
import type { Problem } from "./inspector.ts";

/** Gives the problems of the members of a block. */
type MembersComparison<M> = (members: readonly M[]) => Promise<Problem[]>;

const byId = <M extends { id: number }>(rows: readonly (M | undefined)[]): Map<number, M> =>
  new Map(rows.flatMap((row) => (row === undefined ? [] : [[row.id, row]])));

export const findingsOf =
  (org: number): MembersComparison<FindingRecord> =>
  async (members) => {
    const holders = byId(await emails.getMany(org, [...new Set(members.map(({ emailId }) => emailId))]));
    const problems = members.map(async (row) => {
      const { id, breachId, emailId } = row;
      const holds = { breachPartition: breachPartition(org, breachId) };
      const holder = holders.get(emailId);
      return [
        ...compareState(org, row),
        ...compare({ kind: "finding", id }, { key: findings.key(org, id), row, holds }),
        ...(holder?.findings[breachId] === id ? [] : await compareHolder(org, row, holder)),
      ];
    });
    return (await Promise.all(problems)).flat();
  };

/** A finding with an acknowledgment must be counted as acknowledged, and no other. */
const compareState = (org: number, { id, group, acknowledgment }: FindingRecord): Problem[] => {
  const from = findings.groupOf({ group });
  const to = { ...from, acknowledged: acknowledgment !== undefined, endedBy: endedByOf(acknowledgment) };
  if (to.acknowledged === from.acknowledged && to.endedBy === from.endedBy) return [];
  const says = `it is counted under ${group}, should be under ${findings.groupKeyOf(to)}`;
  const change = findings.change(org, id, { from, to, if: asRead({ acknowledgment }) });
  return [{ kind: "finding", id, topic: "group", says, repair: () => findings.writes(org, [change]) }];
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
  const hold = changeFindings(org, email, [{ to: group }], {
    set: { [`findings.${breachId}`]: id },
    add: { gone: new Set(lastSeenAt === undefined ? [] : [breachId]) },
    read: { [`findings.${breachId}`]: undefined },
  });
  const unchanged = { check: findings.key(org, id), if: asRead({ group: finding.group, lastSeenAt }) };
  return [
    {
      ...problem,
      says: `e-mail ${emailId} does not hold it`,
      repair: () => [...emails.writes(org, [hold]), unchanged],
    },
  ];
};

export const emailsOf =
  (org: number): MembersComparison<Email> =>
  async (members) => {
    const named = byId(
      await findings.getMany(
        org,
        members.flatMap((row) => Object.values(row.findings)),
      ),
    );
    const summaries = members.map((row) => {
      const holds = summaryOf(row, named);
      const reliesOn = ["findings", ...openAttributes, "gone", "group"];
      return [
        ...compare({ kind: "e-mail", id: row.id }, { key: emails.key(org, row.id), row, holds, reliesOn }),
        ...compareExposure(org, row, exposureOf(holds)),
      ];
    });
    return [
      ...summaries.flat(2),
      ...(await compareOwners(org, members)),
      ...(await compareRowsToFindBy(org, members)),
    ];
  };

const noneOpen = Object.fromEntries(openAttributes.map((name) => [name, 0]));

/**
 * What an e-mail's row must say about the findings that it names: those that are there, how many are
 * open by severity, and which disappeared upstream.
 */
const summaryOf = (
  row: Email,
  byId: ReadonlyMap<number, FindingRecord>,
): Item & Pick<Email, (typeof openAttributes)[number]> => {
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
  };
};

/** An e-mail must be counted under the exposure that its open findings give it. */
const compareExposure = (org: number, row: Email, exposure: number): Problem[] => {
  const { id, group, findings: named } = row;
  const from = emails.groupOf(row);
  if (exposure === from.exposure) return [];
  const to = { ...from, exposure };
  const says = `it is counted under ${group}, should be under ${emails.groupKeyOf(to)}`;
  const change = emails.change(org, id, { from, to, if: asRead({ ...openAsRead(row), findings: named }) });
  return [{ kind: "e-mail", id, topic: "group", says, repair: () => emails.writes(org, [change]) }];
};

/** The row that makes an address unique, and those of an owner's name, must lead to the e-mail. */
const compareRowsToFindBy = async (org: number, members: readonly Email[]): Promise<Problem[]> => {
  const pairs = members.flatMap((row) => {
    const { domainId } = emails.groupOf(row);
    const ofAddress = { ...keys.address(org, row.email), emailId: row.id, domainId };
    return [ofAddress, ...ownerWordRows(org, { ...row, domainId })].map((expected) => ({ row, expected }));
  });
  const rows = await table.getMany<{ emailId: number }>(pairs.map(({ expected }) => expected));
  return pairs.flatMap(({ row: { id, email, ownerName }, expected: { pk, sk, ...holds } }, at) => {
    const subject = { kind: "e-mail", id };
    const isThere = { check: emails.key(org, id), if: asRead({ email, ownerName }) };
    const derived = { key: { pk, sk }, row: rows[at], holds };
    const other = rows[at]?.emailId ?? id;
    if (other === id) {
      // Not what the row says: names and words of owners are in no report.
      const says = "a row by which it is found is missing or wrong";
      return compare(subject, { ...derived, given: [isThere], says });
    }
    // The repair fails while the other e-mail has the address too.
    const isFree = condition("attribute_not_exists(#pk) OR #email <> :email", { email });
    const given = [isThere, { check: emails.key(org, other), if: isFree }];
    const says = `a row by which it is found names e-mail ${other}`;
    const advice = `If e-mail ${other} has the same address, remove one of the two.`;
    return compare(subject, { ...derived, given, says }).map((problem) => ({ ...problem, advice }));
  });
};

/** An e-mail's domain must exist, and its team if it has one. */
const compareOwners = async (org: number, members: readonly Email[]): Promise<Problem[]> => {
  const [allDomains, allTeams] = await Promise.all([domains.list(org), teams.everyTeam(org)]);
  const [domainIds, teamIds] = [byId(allDomains), byId(allTeams)];
  const advice = "Restore the missing row from a backup of the table, or remove the e-mail.";
  return members.flatMap((row) => {
    const { domainId, teamId } = emails.groupOf(row);
    const missing = [
      ...(domainIds.has(domainId) ? [] : [`domain ${domainId}`]),
      ...(teamId === null || teamIds.has(teamId) ? [] : [`team ${teamId}`]),
    ];
    if (missing.length === 0) return [];
    const says = `its ${missing.join(" and ")} is not there`;
    return [{ kind: "e-mail", id: row.id, topic: "owners", says, advice }];
  });
};

/** A delivery must be in the due index exactly while it is open. */
export const deliveriesOf =
  (org: number): MembersComparison<Delivery> =>
  async (members) =>
    members.flatMap((row) => {
      const { id, status } = row;
      const shard = ["pending", "retrying"].includes(status) ? dueShard("DELIVERY", id) : undefined;
      const key = deliveries.key(org, id);
      return compareDue({ kind: "delivery", id }, { key, row, shard, reliesOn: ["status"] });
    });
