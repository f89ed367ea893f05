/** Compares the rows of an organization that belong to no list. */
import * as channels from "../../alerting/channels/channel.ts";
import { asRead, exists } from "../../aws/table/condition.ts";
import { type DueKind, dueShard, type Key, keys } from "../../aws/table/keys.ts";
import * as table from "../../aws/table/table.ts";
import { emails } from "../../monitoring/emails/record.ts";
import { sumsOf } from "../../monitoring/unwatched/record.ts";
import * as unwatched from "../../monitoring/unwatched/store.ts";
import { compare, compareDue } from "./derived-row.ts";
import type { Problem } from "./inspector.ts";

/** The organization must be in the list of all; its channels must be counted, for the limit of 20. */
export const compareCounters = async (org: number): Promise<Problem[]> => {
  const fixed = [keys.organizations(org), keys.channelCount(org)];
  const [index, channelCount] = await table.getMany(fixed);
  const isThere = { check: keys.organization(org), if: exists };
  return [
    ...compare(
      { kind: "organization", id: org },
      {
        key: keys.organizations(org),
        row: index,
        holds: { id: org },
        given: [isThere],
        says: "it is missing in the list of organizations",
      },
    ),
    ...compare(
      { kind: "channel count", id: org },
      {
        key: keys.channelCount(org),
        row: channelCount,
        holds: { channels: (await channels.list(org)).length },
      },
    ),
  ];
};

/** The seats that are counted must be the active e-mails of the tally. */
export const compareSeats = async (org: number): Promise<Problem[]> => {
  const key = keys.seats(org);
  const row = await table.get(key);
  const active = emails.sum(await emails.tally(org), ({ isActive }) => isActive);
  return compare({ kind: "seats", id: org }, { key, row, holds: { active } });
};

/** Removals of e-mails and channels, a requested scan, and rows of the outbox must be due. */
export const compareWork = async (org: number): Promise<Problem[]> => {
  type Row = Key & { dueAt?: string };
  const mustBeDue = (kind: string, due: DueKind, id: number, row: Row): Problem[] =>
    compareDue({ kind, id }, { key: { pk: row.pk, sk: row.sk }, row, shard: dueShard(due, id) });
  const ofEmails = await table.query<Row>({ pk: keys.removal(org, 0).pk });
  const ofChannels = await table.query<Row>({ pk: keys.channelRemoval(org, 0).pk });
  const request = await table.get<Row>(keys.scanRequest(org));
  const outbox = await table.query<Row & { type: string }>({ pk: keys.outbox(org, "").pk });
  // Findings that were recorded wait for a message or the end of their scan.
  const toTell = outbox.filter(({ type }) => ["ended", "risen", "problem"].includes(type));
  return [
    ...ofEmails.flatMap((row) => mustBeDue("removal", "REMOVAL", Number(row.sk), row)),
    ...ofChannels.flatMap((row) => mustBeDue("channel removal", "CHANNEL-REMOVAL", Number(row.sk), row)),
    ...toTell.flatMap((row) => mustBeDue("what is to be told", "OUTBOX", org, row)),
    ...(request === undefined ? [] : mustBeDue("scan request", "SCAN-REQUEST", org, request)),
  ];
};

/** The root of a domain's unwatched addresses must count those that are open, and another row those of each breach. */
export const compareUnwatched = async (org: number): Promise<Problem[]> => {
  const problems = (await unwatched.roots(org)).map(async ({ domainId }) => {
    const counts = await table.get<unwatched.Counts>(keys.unwatchedCounts(org, domainId));
    const { root, kept } = await unwatched.read(org, domainId);
    if (root === undefined) return [];
    const { byBreach, open, watched, severeAt } = sumsOf(kept);
    const key = keys.unwatched(org, domainId);
    const { answer, decisions } = root;
    const isAsRead = { check: key, if: asRead({ answer, decisions }) };
    const subject = { kind: "unwatched", id: domainId };
    return [
      ...compare(subject, {
        key,
        row: root,
        holds: { open, watched, severeAt },
        reliesOn: ["answer", "decisions"],
      }),
      ...compare(subject, {
        key: keys.unwatchedCounts(org, domainId),
        row: counts,
        holds: { byBreach },
        given: [isAsRead],
      }),
    ];
  });
  return (await Promise.all(problems)).flat();
};
